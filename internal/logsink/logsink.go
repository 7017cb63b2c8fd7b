// Package logsink takes the lines of a log without ever waiting for where they go: the other end
// of a pipe may stop reading or be gone, a disk may be full, a terminal may be held.
package logsink

import (
	"io"
	"sync"
	"time"
)

// The bounds of what waits to be written.
const (
	maxLines = 2_000
	maxBytes = 1 << 20
)

// retryEvery is how often a Sink tries to tell that lines were dropped, without a new line.
const retryEvery = 5 * time.Second

// Sink is a writer of whole lines, which one goroutine writes to another writer in their order.
// What does not fit into its buffer, or cannot be written, is dropped, counted, and told where it
// is missing. Its methods may be called concurrently.
type Sink struct {
	to   io.Writer
	told func(lines int) []byte
	now  func() time.Time

	wake  chan struct{} // has room for one
	ended chan struct{} // closed when nothing will be written any more

	torn bool // the goroutine that writes has written a part of a line

	mu      sync.Mutex
	closing bool
	lines   []line
	bytes   int // in lines
	last    int // lines that were dropped after all of lines
	untold  int // all dropped lines that nobody was told of
	state   State
}

type line struct {
	text    []byte
	dropped int // lines that were dropped right before it
}

// State is what a Sink says of itself.
type State struct {
	Dropped int       // lines, in all
	Since   time.Time // since when a line waits, or one was dropped and that was not told; zero if neither
	Err     error     // why the last line could not be written, or nil
}

// New returns a Sink that writes to another writer, until Close. told returns the line that says
// that so many were dropped.
func New(to io.Writer, told func(lines int) []byte, now func() time.Time) *Sink {
	s := &Sink{to: to, told: told, now: now, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go s.run()
	return s
}

// Write takes one line. It never waits for the writer of the Sink, and never fails.
func (s *Sink) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || len(s.lines) == maxLines || s.bytes+len(text) > maxBytes {
		s.begin()
		s.state.Dropped++
		s.last++
		s.untold++
		return len(text), nil
	}
	s.lines = append(s.lines, line{append([]byte(nil), text...), s.last})
	s.bytes += len(text)
	s.last = 0
	s.signal()
	return len(text), nil
}

// State returns the state of the Sink now.
func (s *Sink) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Close waits until everything is written, but not longer than within. Later lines are dropped.
func (s *Sink) Close(within time.Duration) {
	s.mu.Lock()
	s.closing = true
	s.signal()
	s.mu.Unlock()
	select {
	case <-s.ended:
	case <-time.After(within):
	}
}

func (s *Sink) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// begin notes that from now on something waits. The caller holds the lock.
func (s *Sink) begin() {
	if s.state.Since.IsZero() {
		s.state.Since = s.now()
	}
}

// run is the goroutine that writes.
func (s *Sink) run() {
	defer close(s.ended)
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	for {
		for {
			next, ok := s.take()
			if !ok {
				break
			}
			err := s.write(&next)
			s.settle(next, err)
			if err != nil && next.text == nil {
				break
			}
		}
		s.mu.Lock()
		over := s.closing && len(s.lines) == 0
		s.mu.Unlock()
		if over {
			return
		}
		select {
		case <-s.wake:
		case <-retry.C:
		}
	}
}

// take takes what is to be written next: a line, or without one only what is to be told.
func (s *Sink) take() (next line, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) > 0 {
		next, s.lines = s.lines[0], s.lines[1:]
		s.bytes -= len(next.text)
	} else {
		next, s.lines = line{dropped: s.last}, nil
		s.last = 0
	}
	ok = next.text != nil || next.dropped > 0
	if ok {
		s.begin()
	}
	return next, ok
}

// write writes a line, after it has told of those that were dropped before it.
func (s *Sink) write(next *line) error {
	if next.dropped > 0 {
		told := s.told(next.dropped)
		if s.torn {
			told = append([]byte("\n"), told...)
		}
		if err := s.put(told); err != nil {
			return err
		}
		s.mu.Lock()
		s.untold -= next.dropped
		s.mu.Unlock()
		next.dropped = 0
	}
	return s.put(next.text)
}

func (s *Sink) put(text []byte) error {
	n, err := s.to.Write(text)
	s.torn = err != nil && (n > 0 || s.torn)
	return err
}

// settle notes what became of a line.
func (s *Sink) settle(wrote line, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Err = err
	if err == nil {
		if s.untold == 0 {
			s.state.Since = time.Time{}
		}
		return
	}
	if wrote.text != nil {
		s.state.Dropped++
		s.untold++
		wrote.dropped++
	}
	if len(s.lines) > 0 {
		s.lines[0].dropped += wrote.dropped
	} else {
		s.last += wrote.dropped
	}
}
