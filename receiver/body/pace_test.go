package body

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

// TestPace: a body may come as slowly as it likes for a while, and must then keep a
// minimum pace.
func TestPace(t *testing.T) {
	now := time.Unix(0, 0)
	var until time.Time
	p := &pace{
		ReadCloser: io.NopCloser(bytes.NewReader(make([]byte, 200<<20))), reservation: NewBudget(1, 1).reserve(nobody),
		now: func() time.Time { return now }, setDeadline: func(at time.Time) error { until = at; return nil },
	}
	chunk := make([]byte, paceStep)
	for i, want := range []time.Duration{14 * time.Second, 18 * time.Second, 22 * time.Second} {
		if _, err := io.ReadFull(p, chunk); err != nil {
			t.Fatal(err)
		}
		if got := until.Sub(time.Unix(0, 0)); got != want {
			t.Errorf("step %d: until %v, want %v", i, got, want)
		}
	}
	if _, err := p.Read(chunk[:1]); err != nil {
		t.Fatal(err)
	}
	p.reservation.waited = time.Minute
	if _, err := p.Read(chunk[:1]); err != nil || until.Sub(time.Unix(0, 0)) < time.Minute {
		t.Errorf("until %v, %v, although it had to wait for memory", until, err)
	}
	p.reservation.waited = 0
	if _, err := io.CopyN(io.Discard, p, 100<<20); err != nil || until.Sub(time.Unix(0, 0)) != longest {
		t.Errorf("until %v, %v", until, err)
	}
	if p.end(); until.IsZero() {
		t.Error("there is no deadline any more although the body has not ended")
	}
	if _, err := io.Copy(io.Discard, p); err != nil {
		t.Fatal(err)
	}
	if p.end(); !until.IsZero() {
		t.Errorf("until %v, although the body has ended", until)
	}
	p.stop()
	if !until.Equal(now) {
		t.Errorf("stopped at %v", until)
	}
	p.reservation.evicted, p.due = true, 0
	if _, err := p.Read(chunk); !errors.Is(err, ErrBusy) {
		t.Errorf("a read after an eviction returned %v, want ErrBusy", err)
	}
}
