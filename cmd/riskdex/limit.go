package main

import (
	"net"
	"sync"
)

// limited is a listener that bounds the number of its open connections; further ones wait. It
// hands out connections that still embed *net.TCPConn, so that the system can be asked about
// their state.
type limited struct {
	*net.TCPListener
	slots  chan struct{}
	closed chan struct{}
	close  func()
}

func limit(l *net.TCPListener, connections int) *limited {
	closed := make(chan struct{})
	return &limited{l, make(chan struct{}, connections), closed, sync.OnceFunc(func() { close(closed) })}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.AcceptTCP()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{conn, sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limited) Close() error {
	l.close()
	return l.TCPListener.Close()
}

type limitedConn struct {
	*net.TCPConn
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.TCPConn.Close()
}
