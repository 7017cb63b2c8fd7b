// Package freeport finds ports for servers that cannot choose one themselves, or have
// to come back on the one that they had.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports lie below those that Linux gives to outgoing connections
// (ip_local_port_range, 32768 and up): between being found and being used, and while
// its server is away, such a port is nobody's by chance. Elasticsearch has those from
// 20000 to 29999 here.
const first, last = 30000, 32767

const tries = 100

// Find returns a port of the loopback address on which nobody listens now.
func Find() (int, error) {
	var err error
	for range tries {
		port := first + rand.IntN(last-first+1)
		var l net.Listener
		if l, err = net.Listen("tcp", address(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port among %d to %d: %w", first, last, err)
}

// Address is Find for who wants the port with its host.
func Address() (string, error) {
	port, err := Find()
	return address(port), err
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
