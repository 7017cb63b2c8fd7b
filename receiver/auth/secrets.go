package auth

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// lookEvery is how old what is known of the files may become.
	lookEvery = time.Second
	// maxFile bounds a file of secrets, in bytes.
	maxFile = 1 << 20
)

// secrets are what some files hold: for one method, all alternatives. They are
// looked at when they are used, at most every second, by what is in them and not
// by their times, which may stay the same, or change with nothing. So it does not
// matter how they are replaced: in place, by a rename, or by swapping a link as
// Kubernetes does. It may be used concurrently.
type secrets[T any] struct {
	what  string // for people, such as "bearer tokens"
	files []string
	parse func(content []byte) ([]T, error)
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	looked time.Time
	digest [sha256.Size]byte // of what was parsed last
	list   []T
	err    error // why none of it can be used
}

// open reads the files for the first time.
func (s *secrets[T]) open() error {
	s.looked = s.now()
	s.list, s.digest, s.err = s.read()
	return s.err
}

// get returns the secrets, never none without an error. One file that cannot be
// used is an error for all of them.
func (s *secrets[T]) get() ([]T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if age := now.Sub(s.looked); age < 0 || age >= lookEvery {
		s.looked = now
		s.look()
	}
	return s.list, s.err
}

func (s *secrets[T]) ready() error {
	_, err := s.get()
	return err
}

// look reads the files again and says what has changed.
func (s *secrets[T]) look() {
	list, digest, err := s.read()
	switch {
	case err != nil && (s.err == nil || s.err.Error() != err.Error()):
		s.log.Error("no deliveries are let in until the secrets can be read", "secrets", s.what, "error", err)
	case err == nil && (s.err != nil || s.digest != digest):
		s.log.Info("the secrets were read again", "secrets", s.what, "files", len(s.files), "usable", len(list))
	}
	s.list, s.digest, s.err = list, digest, err
}

func (s *secrets[T]) read() (list []T, digest [sha256.Size]byte, err error) {
	all := sha256.New()
	for _, file := range s.files {
		content, err := readFile(file)
		if err != nil {
			return nil, digest, fmt.Errorf("read the %s in %s: %w", s.what, file, err)
		}
		found, err := s.parse(content)
		if err == nil && len(found) == 0 {
			err = errors.New("the file has none; put them there, or take the file out of the settings")
		}
		if err != nil {
			return nil, digest, fmt.Errorf("read the %s in %s: %w", s.what, file, err)
		}
		list = append(list, found...)
		fmt.Fprintf(all, "%d\n%s", len(content), content)
	}
	return list, [sha256.Size]byte(all.Sum(nil)), nil
}

func readFile(name string) ([]byte, error) {
	// Opening a pipe would wait for somebody to write to it.
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("the file is larger than %d bytes, which no secrets are", maxFile)
	}
	return content, err
}

// perLine reads one secret a line with one. Blank lines, lines that begin with #,
// and spaces around a secret do not count. Errors name the line and never quote
// it.
func perLine(one func(line string) ([]byte, error)) func([]byte) ([][]byte, error) {
	return func(content []byte) (list [][]byte, err error) {
		number := 0
		for line := range strings.Lines(string(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))) {
			number++
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			secret, err := one(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			list = append(list, secret)
		}
		return list, nil
	}
}
