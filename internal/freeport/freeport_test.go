package freeport

import (
	"net"
	"testing"
)

func TestFind(t *testing.T) {
	for range 50 {
		port, err := Find()
		if err != nil || port < first || port > last {
			t.Fatalf("Find returned %d, %v", port, err)
		}
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
