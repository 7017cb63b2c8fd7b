package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
)

// slowConnections is how many slow connections there are at once, and mostMemory the memory
// that riskdex may take meanwhile. It stays under 256 MiB on a machine of its own, but the
// garbage at the worst moment depends on the other load of the machine (337 MiB once). The
// bound still detects connections that cost too much: it leaves 100 KiB for each.
const (
	slowConnections = 5000
	mostMemory      = 512 << 20
)

// slow is a way to occupy a connection: begin is sent at once, and then more, slowly and
// repeatedly. With never, the answer is never read.
type slow struct {
	begin, more string
	never       bool
}

// TestSlowConnections has healthy senders deliver while thousands of others occupy
// connections.
func TestSlowConnections(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--bearer-file", secretFile(t, "a-token-of-the-publisher"))
	p.start()
	const shown = " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a-token-of-the-publisher\r\n"
	ways := []slow{
		{"", "", false}, // silence
		{"PUT /cities/slow" + shown + "X: ", "x", false}, // a header without an end
		{"PUT /cities/slow" + shown + "Content-Length: 1000\r\n\r\n", " ", false},
		{"PUT /cities/slow" + shown + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", false},
		{strings.Repeat("GET /cities/slow"+shown+"\r\n", 200), "", true},
	}
	attack, stop := context.WithCancel(t.Context())
	defer stop()
	var held, cut atomic.Int64
	var attackers sync.WaitGroup
	readers, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	for i := range slowConnections {
		way := ways[i%len(ways)]
		attackers.Go(func() {
			for attack.Err() == nil { // reconnect when cut off
				hold(attack, readers, p.deliveries, way, &held)
				cut.Add(1)
			}
		})
	}

	var healthy sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	statuses := map[string]int{}
	deliver := func(sender, n int) {
		began := time.Now()
		status, err := p.tryAs("a-token-of-the-publisher", fmt.Sprintf("/cities/healthy-%d-%d", sender, n%50), cityBody(n, "healthy"))
		spent := time.Since(began)
		mu.Lock()
		defer mu.Unlock()
		took = append(took, spent)
		statuses[fmt.Sprint(status, err)]++
	}
	var most atomic.Int64
	eventually(t, "all slow connections are held", func() bool {
		most.Store(max(most.Load(), held.Load()))
		return most.Load() >= slowConnections*99/100
	})
	for sender := range 8 {
		healthy.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for n := 0; n < 200 || cut.Load() < slowConnections; n++ {
				deliver(sender, n)
				<-pace.C
			}
		})
	}
	healthy.Wait()
	stop()
	eventually(t, "those that still send slowly are cut off", func() bool { return held.Load() <= slowConnections/int64(len(ways))+1 })
	hangUp()
	attackers.Wait()

	if len(statuses) != 1 || statuses["202 <nil>"] == 0 {
		t.Errorf("healthy senders are answered %v, want 202 to all", statuses)
	}
	slices.Sort(took)
	memory := p.memory("VmHWM")
	t.Logf("%d slow connections at most, %d cut off; %d deliveries beside them: median %v, 99th percentile %v, longest %v; at most %d MiB of memory",
		most.Load(), cut.Load(), len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1], memory>>20)
	if memory > mostMemory && !raceDetector {
		t.Errorf("riskdex took %d MiB, want at most %d", memory>>20, mostMemory>>20)
	}
	p.drained()
}

// hold occupies one connection until it is cut off. A connection that is never read cannot
// notice that, and is kept until readers is done.
func hold(attack, readers context.Context, address string, way slow, held *atomic.Int64) {
	var d net.Dialer
	conn, err := d.DialContext(attack, "tcp", address)
	if err != nil {
		return
	}
	defer conn.Close()
	held.Add(1)
	defer held.Add(-1)
	if way.never {
		_ = conn.(*net.TCPConn).SetReadBuffer(1)
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte(way.begin))
		<-readers.Done()
		return
	}
	if _, err := conn.Write([]byte(way.begin)); err != nil {
		return
	}
	for answer := make([]byte, 512); ; {
		_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
		_, err := conn.Read(answer)
		var late net.Error
		switch {
		case err == nil:
		case !errors.As(err, &late) || !late.Timeout():
			return
		default:
			if _, err := conn.Write([]byte(way.more)); err != nil {
				return
			}
		}
	}
}

// tryAs makes a delivery with a bearer token.
func (p *process) tryAs(token, path, body string) (int, error) {
	req, err := http.NewRequest("PUT", "http://"+p.deliveries+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := p.sender.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}
