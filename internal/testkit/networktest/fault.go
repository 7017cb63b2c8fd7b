package networktest

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Fault treats bytes as a bad network does: it writes them to the stream late, in part or
// not at all. An error ends the connection.
type Fault func(s *stream, bytes []byte) error

// Late delays all bytes, by up to jitter more or less.
func Late(delay, jitter time.Duration) Fault {
	return func(s *stream, bytes []byte) error {
		s.pause(delay - jitter + rand.N(2*jitter+1))
		return s.write(bytes)
	}
}

// Slices sends at most size bytes at once, with a pause after each slice.
func Slices(size int, pause time.Duration) Fault {
	return func(s *stream, bytes []byte) error {
		for len(bytes) > 0 {
			n := min(1+rand.IntN(size), len(bytes))
			if err := s.write(bytes[:n]); err != nil {
				return err
			}
			bytes = bytes[n:]
			s.pause(pause)
		}
		return nil
	}
}

// Narrow limits the throughput to so many bytes per second.
func Narrow(bytesPerSecond int) Fault {
	return func(s *stream, bytes []byte) error {
		s.pause(time.Duration(len(bytes)) * time.Second / time.Duration(bytesPerSecond))
		return s.write(bytes)
	}
}

// Limit closes a connection after so many bytes.
func Limit(bytes int) Fault {
	return func(s *stream, more []byte) error {
		n := min(len(more), max(0, bytes-s.passed))
		s.passed += n
		if err := s.write(more[:n]); err != nil || s.passed < bytes {
			return err
		}
		return errEnded
	}
}

// Reset loses the next bytes and resets the connection after a while.
func Reset(after time.Duration) Fault {
	return func(s *stream, _ []byte) error {
		s.pause(after)
		s.link.reset()
		return errEnded
	}
}

// Swallow loses all bytes while the connection stays open, until Heal or, if after is
// more than 0, for that long from the first of them.
func Swallow(after time.Duration) Fault {
	return func(s *stream, _ []byte) error {
		s.link.lost.Store(true)
		if after == 0 {
			return nil
		}
		s.pause(after)
		return errEnded
	}
}

var errEnded = errors.New("the connection ends")

// link is a connection through the proxy.
type link struct {
	client, server *net.TCPConn
	lost           atomic.Bool // bytes
	once           sync.Once
	ended          chan struct{}
}

// end closes both sides.
func (l *link) end() {
	l.once.Do(func() {
		close(l.ended)
		l.client.Close()
		l.server.Close()
	})
}

// reset closes both sides so that they see a reset instead of an end.
func (l *link) reset() {
	l.client.SetLinger(0)
	l.server.SetLinger(0)
	l.end()
}

// stream is one direction of a link.
type stream struct {
	link   *link
	to     net.Conn
	passed int // bytes, for faults that count them
}

func (s *stream) write(bytes []byte) error {
	_, err := s.to.Write(bytes)
	return err
}

// pause waits, but for no longer than the connection lasts.
func (s *stream) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.link.ended:
	}
}

// pump carries bytes in one direction until that direction ends.
func (l *link) pump(p *Proxy, d Direction) {
	from, to := l.client, l.server
	if d == ToClient {
		from, to = l.server, l.client
	}
	s := &stream{link: l, to: to}
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			pass := p.fault(d)
			if pass == nil {
				pass = func(s *stream, bytes []byte) error { return s.write(bytes) }
			}
			if pass(s, buffer[:n]) != nil {
				l.end()
				return
			}
		}
		if err != nil {
			to.CloseWrite() // the other direction may continue
			if d == ToClient {
				l.end()
			}
			return
		}
	}
}
