// Package networktest is a network that tests can disturb: a TCP proxy whose connections
// are slow, cut, reset or silent when a test says so.
package networktest

import (
	"errors"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy forwards TCP connections to a server. Its methods may be called concurrently.
type Proxy struct {
	t       testing.TB
	address string // the same after Restore
	running sync.WaitGroup

	mu       sync.Mutex
	servers  []string     // which get the connections by turns
	listener net.Listener // nil while it is cut
	links    map[*link]bool
	faults   [2]Fault // by Direction
}

// Direction is the direction in which bytes travel.
type Direction int

const (
	ToServer Direction = iota
	ToClient
)

// New starts a proxy to the host and port of a URL, and returns that URL with the address
// of the proxy instead. The proxy ends with the test.
func New(t testing.TB, direct string) (p *Proxy, through string) {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	p = &Proxy{t: t, servers: []string{u.Host}, address: "127.0.0.1:0", links: map[*link]bool{}}
	p.Restore()
	t.Cleanup(func() {
		p.Cut()
		p.running.Wait()
	})
	u.Host = p.address
	return p, u.String()
}

// LeadTo has the servers at some URLs get further connections by turns, as behind a balancer.
func (p *Proxy) LeadTo(direct ...string) {
	p.t.Helper()
	var servers []string
	for _, d := range direct {
		u, err := url.Parse(d)
		if err != nil {
			p.t.Fatal(err)
		}
		servers = append(servers, u.Host)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers = servers
}

// next returns the server of the next connection.
func (p *Proxy) next() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	server := p.servers[0]
	p.servers = append(p.servers[1:], server)
	return server
}

// Spoil applies a fault to one direction of every connection, including open ones. It
// replaces the previous fault of this direction.
func (p *Proxy) Spoil(d Direction, f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[d] = f
}

// Swallow loses everything in both directions, while connections stay open.
func (p *Proxy) Swallow() {
	p.Spoil(ToServer, Swallow(0))
	p.Spoil(ToClient, Swallow(0))
}

// Heal ends all faults. Connections that have lost bytes are closed.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = [2]Fault{}
	for l := range p.links {
		if l.lost.Load() {
			l.end()
		}
	}
}

// Cut closes all connections and refuses new ones.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener == nil {
		return
	}
	p.listener.Close()
	p.listener = nil
	for l := range p.links {
		l.end()
	}
}

// Restore accepts connections again after Cut, at the same address.
func (p *Proxy) Restore() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	listener, err := net.Listen("tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.listener, p.address = listener, listener.Addr().String()
	p.running.Go(func() { p.accept(listener) })
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.running.Go(func() { p.connect(listener, client) })
		}
	}
}

// connect serves one connection until it ends.
func (p *Proxy) connect(listener net.Listener, client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.next())
	if err != nil {
		return
	}
	defer server.Close()
	l := &link{client: client.(*net.TCPConn), server: server.(*net.TCPConn), ended: make(chan struct{})}
	p.mu.Lock()
	if p.listener != listener { // cut since
		p.mu.Unlock()
		return
	}
	p.links[l] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.links, l)
	}()
	var both sync.WaitGroup
	both.Go(func() { l.pump(p, ToServer) })
	both.Go(func() { l.pump(p, ToClient) })
	both.Wait()
}

func (p *Proxy) fault(d Direction) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults[d]
}
