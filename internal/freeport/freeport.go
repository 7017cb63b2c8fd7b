// Package freeport finds ports for servers that cannot choose one themselves, or have to
// return on the port that they had.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The ports are below those that Linux assigns to outgoing connections (ip_local_port_range,
// 32768 and up), so that nobody gets one by chance between its being found and used, or while
// its server is down. The ports from 20000 to 29999 are for Elasticsearch here.
const first, last = 30000, 32767

const tries = 100

// A process goes through the ports from one chosen at random, so that none is found
// twice: the server that it was found for may not listen yet, or be down for a moment.
var (
	begin = rand.Int64N(last - first + 1)
	found atomic.Int64
)

// Find returns a port of the loopback address that nobody listens on now. It may be
// called by any number of goroutines.
func Find() (int, error) {
	var err error
	for range tries {
		port := first + int((begin+found.Add(1))%(last-first+1))
		var l net.Listener
		if l, err = net.Listen("tcp", address(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port among %d to %d: %w", first, last, err)
}

// Address returns the loopback address with a port from Find.
func Address() (string, error) {
	port, err := Find()
	return address(port), err
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
