// Package freeport finds ports for servers that cannot choose one themselves, or have to
// return on the port that they had.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// The ports are below those that Linux assigns to outgoing connections (ip_local_port_range,
// 32768 and up), so that nobody gets one by chance between its being found and used, or while
// its server is down. The ports from 20000 to 29999 are for Elasticsearch here.
const first, last = 30000, 32767

// A process claims ports in blocks, by listening on the first port of a block until it ends. So
// no other process is given the port of a server that is down for a moment.
const block = 16

var process = claims{begin: rand.IntN(blocks)}

const blocks = (last - first + 1) / block

// claims are the blocks of ports of one process.
type claims struct {
	begin int // the block that is tried first, chosen at random

	mu     sync.Mutex
	tried  int            // blocks
	guards []net.Listener // on the first ports of the blocks
	next   int            // of all other ports of these blocks
}

// Find returns a port of the loopback address that nobody listens on now. It returns the same
// one again only when there are no others left. It may be called by any number of goroutines.
func Find() (int, error) { return process.find() }

func (c *claims) find() (port int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range last - first {
		if c.next == len(c.guards)*(block-1) && !c.claim() {
			c.next = 0
		}
		if len(c.guards) == 0 {
			break
		}
		guard := c.guards[c.next/(block-1)].Addr().(*net.TCPAddr).Port
		port = guard + 1 + c.next%(block-1)
		c.next++
		var l net.Listener
		if l, err = net.Listen("tcp", address(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port among %d to %d: all are in use: %w", first, last, err)
}

// claim claims the next block that no other process has, if there is one.
func (c *claims) claim() bool {
	for c.tried < blocks {
		guard := first + (c.begin+c.tried)%blocks*block
		c.tried++
		if l, err := net.Listen("tcp", address(guard)); err == nil {
			c.guards = append(c.guards, l)
			return true
		}
	}
	return false
}

// Address returns the loopback address with a port from Find.
func Address() (string, error) {
	port, err := Find()
	return address(port), err
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
