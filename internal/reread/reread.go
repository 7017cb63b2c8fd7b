// Package reread keeps what was read from files in step with them while the
// process runs: certificates and secrets are replaced without a restart.
package reread

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// Every is how old what is known of the files may become.
	Every = time.Second
	// maxFile bounds a file, in bytes.
	maxFile = 1 << 20
)

// Files is what some files hold, taken together. They are looked at when they are
// used, by what is in them and not by their times, which may stay the same, or
// change with nothing. So it does not matter how they are replaced: in place, by a
// rename, or by swapping a link as Kubernetes does. It may be used concurrently.
type Files[T any] struct {
	files []string
	parse func(contents [][]byte) (T, error)
	now   func() time.Time
	noted func(error)

	mu     sync.Mutex
	looked time.Time
	digest [sha256.Size]byte // of what was read last
	value  T
	err    error
}

// Open reads files for the first time and returns an error that names the file
// that cannot be read or what parse says. parse gets the contents in the order of
// the files, and only when they have changed. noted is called whenever later
// something else comes out: with nil when the files are right (again), and
// otherwise with what is wrong.
func Open[T any](files []string, parse func([][]byte) (T, error), now func() time.Time, noted func(error)) (*Files[T], error) {
	f := &Files[T]{files: files, parse: parse, now: now, noted: noted, looked: now()}
	if err := f.read(); err != nil {
		return nil, err
	}
	return f, nil
}

// Get returns what the files held at most Every ago. With an error, which says why
// that cannot be used, the value is the last one that could.
func (f *Files[T]) Get() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if age := now.Sub(f.looked); age < 0 || age >= Every {
		f.looked = now
		before, was := f.digest, f.err
		f.err = f.read()
		switch {
		case f.err != nil && (was == nil || was.Error() != f.err.Error()):
			f.noted(f.err)
		case f.err == nil && (was != nil || before != f.digest):
			f.noted(nil)
		}
	}
	return f.value, f.err
}

func (f *Files[T]) read() error {
	contents := make([][]byte, len(f.files))
	all := sha256.New()
	for i, name := range f.files {
		content, err := readFile(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		contents[i] = content
		fmt.Fprintf(all, "%d\n%s", len(content), content)
	}
	digest := [sha256.Size]byte(all.Sum(nil))
	if digest == f.digest && f.err == nil {
		return nil
	}
	value, err := f.parse(contents)
	if err != nil {
		return err
	}
	f.value, f.digest = value, digest
	return nil
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
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return content, err
}
