package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// connection sends requests to one server and reads its answers, with as little work as
// possible, because the sender shares the machine with what is measured.
type connection struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte // the request, reused
	host string
}

func dial(ctx context.Context, address string) (*connection, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn, in: bufio.NewReaderSize(conn, 4<<10), host: address}, nil
}

// do sends a request with the body that appendBody appends, and returns the status.
func (c *connection) do(method, path string, size int, appendBody func([]byte) []byte) (int, error) {
	c.out = append(c.out[:0], method...)
	c.out = append(c.out, ' ')
	c.out = append(c.out, path...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.host...)
	c.out = append(c.out, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	c.out = strconv.AppendInt(c.out, int64(size), 10)
	c.out = append(c.out, "\r\n\r\n"...)
	head := len(c.out)
	c.out = appendBody(c.out)
	if len(c.out)-head != size {
		return 0, fmt.Errorf("a body of %d bytes was announced, and has %d", size, len(c.out)-head)
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, err
	}
	return c.answer()
}

func (c *connection) answer() (status int, err error) {
	length := 0
	for n := 0; ; n++ {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case n == 0 && len(line) >= 12:
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, fmt.Errorf("the answer begins with %q", line)
			}
		case len(line) == 0:
			_, err := c.in.Discard(length)
			return status, err
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
}

// latencies are the times of requests, sorted.
type latencies []time.Duration

// at returns the quantile q.
func (l latencies) at(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(len(l)-1, int(q*float64(len(l))))]
}

// median and p99 are quantiles in milliseconds.
func (l latencies) median() float64 { return ms(l.at(0.5)) }
func (l latencies) p99() float64    { return ms(l.at(0.99)) }

// send delivers an edition of document n of a workload, and returns the status.
func (c *connection) send(w *workload, n, edition int) (int, error) {
	return c.do("PUT", "/advisories/"+id(n), w.bodySize(), func(dst []byte) []byte { return w.appendBody(dst, n, edition) })
}

// put is send with an error for every status but a success.
func (c *connection) put(w *workload, n, edition int) error {
	status, err := c.send(w, n, edition)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("status %d", status)
	}
	return err
}

// loadConnections is the number of connections, each with one request at a time.
const loadConnections = 64

// load is a number of PUTs from many connections at a time. Its functions may be nil.
type load struct {
	addresses  []string // the connections are spread over them
	workload   *workload
	deliveries int
	every      time.Duration   // deliveries are due at this interval; 0: when a connection is free
	document   func(n int) int // the document of delivery n; by default n itself
	edition    func(n int) int // the edition of delivery n; by default 0
	sending    func(n int)     // called before delivery n is sent
	acked      func(n int)     // called when delivery n was acknowledged
}

// loadOf is a load of the first documents of a workload.
func loadOf(w *workload, deliveries int, addresses ...string) load {
	return load{addresses: addresses, workload: w, deliveries: deliveries}
}

// send makes all deliveries, and returns how long that took. Any status but a success is an
// error.
func (l load) send(ctx context.Context) (took time.Duration, each latencies, err error) {
	each = make(latencies, l.deliveries)
	var next atomic.Int64
	var sending sync.WaitGroup
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	connections := make([]*connection, loadConnections)
	for i := range connections {
		if connections[i], err = dial(ctx, l.addresses[i%len(l.addresses)]); err != nil {
			return 0, nil, err
		}
		defer connections[i].conn.Close()
	}
	began := time.Now()
	for _, c := range connections {
		sending.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= l.deliveries {
					return
				}
				at := time.Now()
				if l.every > 0 {
					// Counted from when it was due, even if no connection was free then:
					// otherwise a slow answer would hide all that it delays.
					at = began.Add(time.Duration(n) * l.every)
					if err := wait(ctx, time.Until(at)); err != nil {
						return
					}
				}
				if err := l.deliver(c, n); err != nil {
					cancel(fmt.Errorf("delivery %d: %w", n, err))
					return
				}
				each[n] = time.Since(at)
				if l.acked != nil {
					l.acked(n)
				}
			}
		})
	}
	sending.Wait()
	took = time.Since(began)
	slices.Sort(each)
	return took, each, context.Cause(ctx)
}

func (l load) deliver(c *connection, n int) error {
	document, edition := n, 0
	if l.document != nil {
		document = l.document(n)
	}
	if l.edition != nil {
		edition = l.edition(n)
	}
	if l.sending != nil {
		l.sending(n)
	}
	return c.put(l.workload, document, edition)
}
