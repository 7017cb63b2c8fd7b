package main

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// limited is a listener that bounds the number of its open connections. Where there are too many,
// one without a request gives way to a new one: of the address that has most of these, the one that
// has been without a request for the longest time. So whoever keeps connections closes his own, and
// an address may have as many as it needs, as that of a proxy does. New ones wait only while
// all the others have requests under way.
//
// It hands out connections that still embed *net.TCPConn, so that the system can be asked about
// their state.
type limited struct {
	*net.TCPListener
	most int

	mu      sync.Mutex
	changed *sync.Cond // a connection has ended or become idle, or the listener is closed
	closed  bool
	open    int
	idle    map[netip.Prefix]*list.List // of *limitedConn by address, the longest idle first
}

func limit(l *net.TCPListener, connections int) *limited {
	n := &limited{TCPListener: l, most: connections, idle: map[netip.Prefix]*list.List{}}
	n.changed = sync.NewCond(&n.mu)
	return n
}

func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	c := &limitedConn{TCPConn: conn, of: l, from: networkOf(conn.RemoteAddr())}
	var gaveWay *limitedConn
	l.mu.Lock()
	for l.open >= l.most && len(l.idle) == 0 && !l.closed {
		l.changed.Wait() // with this one in hand
	}
	closed := l.closed
	if l.open >= l.most && !closed {
		gaveWay = l.longestIdle()
	}
	l.open++
	l.rest(c)
	l.mu.Unlock()
	if gaveWay != nil {
		_ = gaveWay.Close()
	}
	if closed {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	// net/http looks for the preface of HTTP/2 before it bounds the time for a header.
	_ = c.SetReadDeadline(time.Now().Add(headerTimeout))
	return c, nil
}

// networkOf returns the address that connections are counted by: of IPv6, whose senders have many,
// the /64 network.
func networkOf(address net.Addr) netip.Prefix {
	tcp, _ := address.(*net.TCPAddr)
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.Prefix(bits)
	return network
}

// longestIdle takes out the connection that is to give way.
func (l *limited) longestIdle() *limitedConn {
	var found *limitedConn
	most := 0
	for _, of := range l.idle {
		c := of.Front().Value.(*limitedConn)
		if of.Len() > most || of.Len() == most && c.since.Before(found.since) {
			found, most = c, of.Len()
		}
	}
	l.unrest(found)
	return found
}

// rest notes that a connection has no request under way, and unrest that it has one, or ends.
func (l *limited) rest(c *limitedConn) {
	if c.place != nil {
		return
	}
	of := l.idle[c.from]
	if of == nil {
		of = list.New()
		l.idle[c.from] = of
	}
	c.since, c.place = time.Now(), of.PushBack(c)
	l.changed.Signal()
}

func (l *limited) unrest(c *limitedConn) {
	if c.place == nil {
		return
	}
	of := l.idle[c.from]
	if of.Remove(c.place); of.Len() == 0 {
		delete(l.idle, c.from)
	}
	c.place = nil
}

// state is the ConnState of the server. A connection is active from the end of a request's header
// to the answer, so one that does not complete its handshake or header is idle.
func (l *limited) state(conn net.Conn, state http.ConnState) {
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	c, ok := conn.(*limitedConn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case state == http.StateActive:
		l.unrest(c)
	case state == http.StateIdle && !c.left:
		l.rest(c)
	}
}

func (l *limited) Close() error {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.mu.Unlock()
	return l.TCPListener.Close()
}

type limitedConn struct {
	*net.TCPConn
	of   *limited
	from netip.Prefix

	// The rest is guarded by of.mu.
	place *list.Element // in of.idle; nil while a request is under way
	since time.Time     // when it became idle
	left  bool
}

func (c *limitedConn) Close() error {
	c.of.mu.Lock()
	if !c.left {
		c.left = true
		c.of.unrest(c)
		c.of.open--
		c.of.changed.Signal()
	}
	c.of.mu.Unlock()
	return c.TCPConn.Close()
}
