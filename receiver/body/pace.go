package body

import (
	"io"
	"net/http"
	"time"
)

// LeastPace is the lowest pace at which a body may arrive after a grace period, in bytes per second.
// Without it, a few senders could hold many connections by sending hardly anything.
const LeastPace = 16 << 10

const (
	paceGrace = 10 * time.Second
	paceStep  = 64 << 10        // the deadline moves every so many bytes
	longest   = 5 * time.Minute // for a body, at whatever pace
	restGrace = time.Second     // for the rest of a body that is not wanted any more
)

// pace is a body whose reads fail with os.ErrDeadlineExceeded when it arrives too slowly,
// and with ErrBusy when its reservation is evicted.
type pace struct {
	io.ReadCloser
	setDeadline func(time.Time) error // of reads
	now         func() time.Time
	reservation *reservation // waiting for memory is not the sender's fault
	waited      time.Duration
	began       time.Time
	ended       bool // all of it has arrived
	failed      bool // and nothing more will
	read, due   int64
}

// Read implements io.Reader.
func (p *pace) Read(b []byte) (int, error) {
	if p.read >= p.due || p.waited != p.reservation.waited {
		if p.began.IsZero() {
			p.began = p.now()
		}
		p.due, p.waited = p.read+paceStep, p.reservation.waited
		allowed := min(longest, paceGrace+time.Duration(p.due)*time.Second/LeastPace)
		_ = p.setDeadline(p.began.Add(allowed + p.waited)) // fails only where there is no connection
		if p.reservation.isEvicted() {
			p.failed = true
			return 0, ErrBusy
		}
	}
	n, err := p.ReadCloser.Read(b)
	p.read += int64(n)
	p.ended = p.ended || err == io.EOF
	p.failed = p.failed || err != nil && err != io.EOF
	return n, err
}

// stop ends a read under way. Any goroutine may call it.
func (p *pace) stop() { _ = p.setDeadline(p.now()) }

// end lifts the deadline where all of the body has arrived, so that the connection can wait
// for the next request. Otherwise net/http reads up to 256 KiB of the rest before it writes the
// answer: a sender that still writes when the connection is closed would see that in place of
// the answer. The deadline bounds that. It may be called again.
func (p *pace) end() {
	switch {
	case p.ended || p.ReadCloser == http.NoBody:
		_ = p.setDeadline(time.Time{})
	case p.began.IsZero():
		_ = p.setDeadline(p.now().Add(paceGrace))
	case p.failed:
		p.stop()
	default:
		_ = p.setDeadline(p.now().Add(restGrace))
	}
}
