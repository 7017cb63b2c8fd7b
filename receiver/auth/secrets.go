package auth

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"riskdex/internal/reread"
)

// secrets are all alternatives of one method, from files that are read again when they
// change. It may be used concurrently.
type secrets[T any] struct{ files *reread.Files[[]T] }

// openSecrets reads files for the first time. what names them for people, such as "bearer
// tokens". If one file cannot be used, it fails.
func openSecrets[T any](group *reread.Group, what string, files []string, parse func(content []byte) ([]T, error), now func() time.Time, log *slog.Logger) (*secrets[T], error) {
	all := func(contents [][]byte) (list []T, err error) {
		for i, content := range contents {
			found, err := parse(content)
			if err == nil && len(found) == 0 {
				err = errors.New("the file has none; put them there, or take the file out of the settings")
			}
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", files[i], err)
			}
			list = append(list, found...)
		}
		return list, nil
	}
	opened, err := reread.Open(group, what, files, all, now, func(err error) {
		if err != nil {
			log.Error("nobody is let in until the secrets can be read", "secrets", what, "error", err)
		} else {
			log.Info("the secrets were read again", "secrets", what, "files", len(files))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", what, err)
	}
	return &secrets[T]{opened}, nil
}

// get returns the secrets, none with an error.
func (s *secrets[T]) get() ([]T, error) {
	list, err := s.files.Get()
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (s *secrets[T]) ready() error {
	_, err := s.get()
	return err
}

// Lines returns the secrets of a file, one a line, with their line numbers, from 1. Blank
// lines, lines that begin with #, and white space around a secret are ignored.
func Lines(content []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.Lines(string(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))) {
			number++
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "#") && !yield(number, line) {
				return
			}
		}
	}
}

// perLine parses each of the Lines with one. Errors name the line and never quote it.
func perLine(one func(line string) ([]byte, error)) func([]byte) ([][]byte, error) {
	return func(content []byte) (list [][]byte, err error) {
		for number, line := range Lines(content) {
			secret, err := one(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			list = append(list, secret)
		}
		return list, nil
	}
}
