package receiver

import (
	"io"
	"net/http"
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
	share     *share // of the memory; waiting for that is no fault of the sender
	waited    time.Duration
	began     time.Time
	ended     bool // all of it has come
	read, due int64
}

// Read implements io.Reader.
func (p *pace) Read(b []byte) (int, error) {
	if p.read >= p.due || p.waited != p.share.waited {
		if p.began.IsZero() {
			p.began = p.now()
		}
		p.due, p.waited = p.read+paceStep, p.share.waited
		allowed := min(longest, paceGrace+time.Duration(p.due)*time.Second/leastPace)
		_ = p.until(p.began.Add(allowed + p.waited)) // where there is no connection, nobody waits
		if p.share.mustGiveWay() {
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

// done lets the connection wait for the next request as it likes, where all of
// the body has come. What has not come is read by net/http, before it writes the
// answer: that is not to take for ever. It may be called again.
func (p *pace) done() {
	switch {
	case p.ended || p.ReadCloser == http.NoBody:
		_ = p.until(time.Time{})
	case p.began.IsZero():
		_ = p.until(p.now().Add(paceGrace))
	default:
		p.stop()
	}
}
