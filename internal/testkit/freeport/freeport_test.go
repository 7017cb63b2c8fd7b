package freeport

import (
	"net"
	"testing"
)

// TestNoPortIsFoundTwice: not by one process, and not by two, though nobody listens.
func TestNoPortIsFoundTwice(t *testing.T) {
	here, there := claims{}, claims{}
	t.Cleanup(func() { here.end(); there.end() })
	found := map[int]bool{}
	for i := range 200 {
		c := &here
		if i%3 == 0 {
			c = &there
		}
		port, err := c.find()
		if err != nil || port < first || port > last || found[port] {
			t.Fatalf("found %d, %v; found before: %v", port, err, found[port])
		}
		found[port] = true
	}
}

// TestPortsComeAgain: when there are no other blocks.
func TestPortsComeAgain(t *testing.T) {
	c := claims{}
	t.Cleanup(c.end)
	if _, err := c.find(); err != nil {
		t.Fatal(err)
	}
	c.tried = blocks
	found := map[int]bool{}
	for range 3 * block {
		port, err := c.find()
		if err != nil {
			t.Fatal(err)
		}
		found[port] = true
	}
	if len(found) != block-1 {
		t.Errorf("a block has %d ports, not %d", len(found), block-1)
	}
}

func (c *claims) end() {
	for _, guard := range c.guards {
		_ = guard.Close()
	}
}

func TestAddressCanBeListenedOn(t *testing.T) {
	a, err := Address()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", a)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
