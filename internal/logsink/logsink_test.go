package logsink

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/require"
)

// reader takes lines while it is open, or fails with an error.
type reader struct {
	logtest.Buffer
	gate sync.Mutex

	mu   sync.Mutex
	err  error
	part int // bytes of a line that are written before err
}

func (r *reader) Write(text []byte) (int, error) {
	r.gate.Lock()
	defer r.gate.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		n, _ := r.Buffer.Write(text[:min(r.part, len(text))])
		return n, r.err
	}
	return r.Buffer.Write(text)
}

func (r *reader) fail(err error, part int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.part = err, part
}

func told(lines int) []byte { return fmt.Appendf(nil, "dropped %d\n", lines) }

func open(t *testing.T) (*Sink, *reader) {
	r := new(reader)
	s := New(r, told, time.Now)
	t.Cleanup(func() { s.Close(time.Minute) })
	return s, r
}

func (s *Sink) mustTake(t *testing.T, text string) {
	t.Helper()
	if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
		t.Errorf("Write returned %d, %v", n, err)
	}
}

// TestNothingWaits: the reader stops. Everything that fits is there in its order once it goes on,
// and then what was dropped, in the place where it is missing.
func TestNothingWaits(t *testing.T) {
	s, r := open(t)
	r.gate.Lock()
	for i := range 3 * maxLines {
		s.mustTake(t, fmt.Sprintln("line", i))
	}
	if st := s.State(); st.Since.IsZero() || st.Dropped < 2*maxLines-1 {
		t.Errorf("while nobody reads: %+v", st)
	}
	r.gate.Unlock()
	require.Eventually(t, time.Minute, "all is told", func() bool { return s.State().Since.IsZero() })
	s.mustTake(t, "after\n")
	s.Close(time.Minute)
	lines := strings.Split(strings.TrimSuffix(r.String(), "\n"), "\n")
	kept := len(lines) - 2
	for i, line := range lines[:kept] {
		if line != fmt.Sprint("line ", i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	if want := fmt.Sprint("dropped ", 3*maxLines-kept); lines[kept] != want || lines[kept+1] != "after" {
		t.Errorf("it ends with %q, not %q", lines[kept:], want)
	}
}

// TestBytesAreBounded: few large lines are dropped as many small ones are.
func TestBytesAreBounded(t *testing.T) {
	s, r := open(t)
	r.gate.Lock()
	for range 20 {
		s.mustTake(t, strings.Repeat("x", maxBytes/8))
	}
	if dropped := s.State().Dropped; dropped < 11 || dropped > 12 {
		t.Errorf("%d lines were dropped", dropped)
	}
	r.gate.Unlock()
}

// TestWritesThatFail: the lines are dropped, also a part of one; what was dropped is told on a
// line of its own, without a new line.
func TestWritesThatFail(t *testing.T) {
	r := new(reader)
	s := New(r, told, time.Now)
	full := errors.New("no space left")
	r.fail(full, 3)
	s.mustTake(t, "first\n")
	s.mustTake(t, "second\n")
	require.Eventually(t, time.Minute, "both are dropped", func() bool { return s.State().Dropped == 2 })
	if st := s.State(); !errors.Is(st.Err, full) || st.Since.IsZero() {
		t.Errorf("while it fails: %+v", st)
	}
	r.fail(nil, 0)
	require.Eventually(t, time.Minute, "all is told", func() bool { return s.State().Since.IsZero() })
	if st := s.State(); st.Err != nil || st.Dropped != 2 || !strings.HasSuffix(r.String(), "\ndropped 2\n") {
		t.Errorf("afterwards: %+v, %q", st, r.String())
	}
	s.Close(time.Minute)
}

// TestCloseIsBounded: nobody reads at the end either.
func TestCloseIsBounded(t *testing.T) {
	s, r := open(t)
	r.gate.Lock()
	defer r.gate.Unlock()
	s.mustTake(t, "x\n")
	closed := make(chan struct{})
	go func() { s.Close(time.Millisecond); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Fatal("Close waits for the reader")
	}
	s.mustTake(t, "late\n")
}
