// Package reread keeps what was parsed from files in step with them while the process runs, so
// that certificates and secrets can be replaced without a restart.
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
	// Every is the longest time for which a change of the files may go unnoticed.
	Every = time.Second
	// maxFile bounds a file, in bytes.
	maxFile = 1 << 20
)

// Files is a value that is parsed from several files together. The files are read again when
// the value is used, and compared by content and not by modification time, which may stay the
// same when the content changes, or change without it. So it does not matter how they are
// replaced: in place, by a rename, or by swapping a link as Kubernetes does. Files may be used
// concurrently.
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

// Group is some Files that can be read again together, at once. The zero value is empty; nil takes
// none. A Group may be used concurrently.
type Group struct {
	mu  sync.Mutex
	all []member
}

type member struct {
	what  string
	again func() (changed bool, err error)
}

// Outcome is what came of reading one of a Group again.
type Outcome struct {
	What    string
	Changed bool
	Err     error // the last valid value, if that is used at all, stays
}

func (g *Group) add(m member) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, m)
}

// Again reads all files now, in the order in which they were opened.
func (g *Group) Again() (all []Outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.all {
		changed, err := m.again()
		all = append(all, Outcome{m.what, changed, err})
	}
	return all
}

// Open reads files for the first time, and adds them to a group as what they are for people. Its error names the file that cannot be read, or is
// that of parse. parse gets the contents in the order of the files, and only when they have
// changed. Later, noted is called whenever the result changes: with nil if the new contents
// are valid, or are valid again, and otherwise with the error.
func Open[T any](group *Group, what string, files []string, parse func([][]byte) (T, error), now func() time.Time, noted func(error)) (*Files[T], error) {
	f := &Files[T]{files: files, parse: parse, now: now, noted: noted, looked: now()}
	if err := f.read(); err != nil {
		return nil, err
	}
	group.add(member{what, func() (bool, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		before := f.digest
		f.look(f.now())
		return f.digest != before, f.err
	}})
	return f, nil
}

// Get returns the value of the files as they were at most Every ago. If they cannot be
// used, it returns the error and the last valid value.
func (f *Files[T]) Get() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if age := now.Sub(f.looked); age < 0 || age >= Every {
		f.look(now)
	}
	return f.value, f.err
}

// look reads the files, and notes what has changed. The caller holds the lock.
func (f *Files[T]) look(now time.Time) {
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
		return nil, errors.New("is not a regular file")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("is larger than %d bytes", maxFile)
	}
	return content, err
}
