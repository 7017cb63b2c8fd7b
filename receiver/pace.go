package receiver

import (
	"io"
	"time"
)

// A sender must keep up a pace, so that few who send hardly anything cannot hold
// many connections.
const (
	paceGrace = 10 * time.Second // before any of the body
	leastPace = 16 << 10         // bytes a second after that
	paceStep  = 64 << 10         // how often it is looked at, in bytes
	longest   = 5 * time.Minute  // for a body, at whatever pace
)

// pace is a body that is late when it comes too slowly: a read then fails with
// os.ErrDeadlineExceeded.
type pace struct {
	io.ReadCloser
	until     func(time.Time) error // sets the deadline of reads
	now       func() time.Time
	mustStop  func() bool // asked after every deadline that is set
	began     time.Time
	read, due int64
	ended     bool
}

// Read implements io.Reader.
func (p *pace) Read(b []byte) (int, error) {
	if p.read >= p.due {
		if p.began.IsZero() {
			p.began = p.now()
		}
		p.due = p.read + paceStep
		allowed := min(longest, paceGrace+time.Duration(p.due)*time.Second/leastPace)
		_ = p.until(p.began.Add(allowed)) // where there is no connection, nobody waits
		if p.mustStop() {
			return 0, errNoMemory
		}
	}
	n, err := p.ReadCloser.Read(b)
	p.read += int64(n)
	p.ended = p.ended || err == io.EOF
	return n, err
}

// stop ends a read under way, from any goroutine.
func (p *pace) stop() { _ = p.until(p.now()) }

// done lets the connection wait for the next request as it likes. Where the body
// has not come to its end, the server reads on for a bit, and the deadline stays.
func (p *pace) done() {
	if p.ended {
		_ = p.until(time.Time{})
	}
}
