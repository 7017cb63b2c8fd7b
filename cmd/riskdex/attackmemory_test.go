package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// zeros is an endless reader of zeros.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func gzipped(t *testing.T, content io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.Copy(z, content)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestGzipBombs sends bodies that inflate a thousandfold.
func TestGzipBombs(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	bomb := gzipped(t, io.LimitReader(zeros{}, 1<<30))
	send := func(body []byte, encoding string) (int, string) {
		req, err := http.NewRequest("PUT", "http://"+p.deliveries+"/cities/bomb", bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Encoding", encoding)
		res, err := p.sender.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(text)
	}
	small := gzipped(t, strings.NewReader(`{"title":"x"}`))
	for name, c := range map[string]struct {
		body     []byte
		encoding string
		want     int
	}{
		"a bomb":                {bomb, "gzip", http.StatusRequestEntityTooLarge},
		"a bomb in a bomb":      {gzipped(t, bytes.NewReader(bomb)), "gzip, gzip", http.StatusUnsupportedMediaType},
		"a bomb in one, unsaid": {gzipped(t, bytes.NewReader(bomb)), "gzip", http.StatusBadRequest},
		"garbage after it":      {append(bytes.Clone(small), "garbage"...), "gzip", http.StatusBadRequest},
		"a second document":     {append(bytes.Clone(small), small...), "gzip", http.StatusBadRequest},
		"cut":                   {small[:len(small)-9], "gzip", http.StatusBadRequest},
		"a false sum":           {append(bytes.Clone(small[:len(small)-8]), make([]byte, 8)...), "gzip", http.StatusBadRequest},
		"no gzip":               {[]byte("{}"), "gzip", http.StatusBadRequest},
		"empty members, no end": {bytes.Repeat(gzipped(t, strings.NewReader("")), 10_000), "gzip", http.StatusBadRequest},
		"as it should be":       {small, "gzip", http.StatusAccepted},
	} {
		if got, said := send(c.body, c.encoding); got != c.want {
			t.Errorf("%s is answered %d %.300s, want %d", name, got, said, c.want)
		}
	}
	one := p.memory("VmHWM")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got, said := send(bomb, "gzip"); got != http.StatusRequestEntityTooLarge && got != http.StatusServiceUnavailable {
				t.Errorf("one of many bombs is answered %d %s", got, said)
			}
		})
	}
	all.Wait()
	many := p.memory("VmHWM")
	t.Logf("a bomb of %d KiB that would be 1 GiB takes %d MiB at most, 50 at once %d MiB", len(bomb)>>10, one>>20, many>>20)
	if (one > 512<<20 || many > mostForBodies) && !raceDetector {
		t.Errorf("one bomb took %d MiB, and many took %d MiB", one>>20, many>>20)
	}
	if got := p.send("PUT", "/cities/after", `{"title":"after"}`); got != http.StatusAccepted {
		t.Errorf("a delivery after them is answered %d", got)
	}
	p.drained()
}

// TestRefusedBodyTakesItsSize: a body of 64 MiB that is refused takes about 64 MiB of
// additional memory, whatever is wrong with it. The memory of a body that was not read to
// its end is freed at once.
func TestRefusedBodyTakesItsSize(t *testing.T) {
	const size = 64<<20 - 100
	zipped := gzipped(t, io.LimitReader(zeros{}, 128<<20))
	for name, c := range map[string]struct {
		body   func() io.Reader
		header string
		length int64
		want   int
		times  int
	}{
		"more than may come":        {func() io.Reader { return io.LimitReader(xs{}, 64<<20+100) }, "identity", 64<<20 + 100, http.StatusRequestEntityTooLarge, 3},
		"more, of no stated length": {func() io.Reader { return io.LimitReader(xs{}, 64<<20+100) }, "identity", -1, http.StatusRequestEntityTooLarge, 3},
		"a bomb":                    {func() io.Reader { return bytes.NewReader(zipped) }, "gzip", int64(len(zipped)), http.StatusRequestEntityTooLarge, 3},
		"no JSON": {func() io.Reader {
			return io.MultiReader(strings.NewReader(`["`), io.LimitReader(xs{}, 40<<20), strings.NewReader(`","`), io.LimitReader(xs{}, size-40<<20), strings.NewReader(`"}`))
		}, "identity", size + 7, http.StatusBadRequest, 1},
		"too long a text": {func() io.Reader {
			return io.MultiReader(strings.NewReader(`{"t":"`), io.LimitReader(xs{}, size), strings.NewReader(`"}`))
		}, "identity", size + 8, http.StatusBadRequest, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, "http://127.0.0.1:1")
			p.start()
			p.send("PUT", "/cities/small", `{"title":"x"}`)
			idle := p.memory("VmHWM")
			for range c.times {
				req, err := http.NewRequest("PUT", "http://"+p.deliveries+"/cities/1", c.body())
				require.NoError(t, err)
				req.ContentLength = c.length
				req.Header.Set("Content-Encoding", c.header)
				if res, err := p.sender.Do(req); err != nil {
					t.Logf("the sender got %v", err) // it was answered before all was sent
				} else if _ = res.Body.Close(); res.StatusCode != c.want {
					t.Errorf("answered %d, want %d", res.StatusCode, c.want)
				}
			}
			took := p.memory("VmHWM") - idle
			t.Logf("at most %d MiB beside the %d MiB before", took>>20, idle>>20)
			if took > 128<<20 && !raceDetector {
				t.Errorf("it took %d MiB", took>>20)
			}
		})
	}
}

// TestManySmallBodiesOfManyRecords: a body of some kilobytes, compressed, may hold a
// hundred thousand records, accepted or refused, and a million elements that are none.
func TestManySmallBodiesOfManyRecords(t *testing.T) {
	const most = 640 << 20
	ids := new(strings.Builder)
	for i := range 100_000 {
		fmt.Fprintf(ids, `,{"id":%d}`, i)
	}
	for name, body := range map[string]string{
		"refused":  "[{}" + strings.Repeat(",{}", 99_999) + "]",
		"accepted": "[" + ids.String()[1:] + "]",
		"none":     "[0" + strings.Repeat(",0", 999_999) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, "http://127.0.0.1:1")
			p.start()
			zipped := gzipped(t, strings.NewReader(body))
			var mu sync.Mutex
			answers := map[int]int{}
			var all sync.WaitGroup
			for range 40 {
				all.Go(func() {
					req, err := http.NewRequest("POST", "http://"+p.deliveries+"/cities", bytes.NewReader(zipped))
					require.NoError(t, err)
					req.Header.Set("Content-Encoding", "gzip")
					res, err := p.sender.Do(req)
					if err != nil {
						t.Error(err)
						return
					}
					defer res.Body.Close()
					answer, err := io.ReadAll(res.Body)
					if err != nil || len(answer) > 64<<10 {
						t.Errorf("an answer of %d bytes, %v", len(answer), err)
					}
					mu.Lock()
					defer mu.Unlock()
					answers[res.StatusCode]++
				})
			}
			all.Wait()
			memory := p.memory("VmHWM")
			t.Logf("40 at once, of %d bytes: %v, at most %d MiB", len(zipped), answers, memory>>20)
			if memory > most && !raceDetector {
				t.Errorf("the deliveries took %d MiB", memory>>20)
			}
			if answers[http.StatusRequestTimeout] != 0 || name == "accepted" && answers[http.StatusAccepted] == 0 {
				t.Errorf("answers %v", answers)
			}
		})
	}
}

// mostForBodies is the memory that riskdex may take while its 256 MiB for bodies are used
// up: they double until Go's garbage collector runs, the journal copies what it writes, and
// refusals are kept meanwhile.
const mostForBodies = 1536 << 20

// largest returns a body of exactly 64 MiB that is made while it is sent.
func largest() io.Reader {
	const head, tail = `{"t":["`, `"]}`
	text := strings.Repeat("x", 1<<20-3) + `","`
	parts := []io.Reader{strings.NewReader(head)}
	for range 63 {
		parts = append(parts, strings.NewReader(text))
	}
	left := 64<<20 - len(head) - 63*len(text) - len(tail)
	return io.MultiReader(append(parts, strings.NewReader(text[:1<<10]), io.LimitReader(xs{}, int64(left-1<<10)), strings.NewReader(tail))...)
}

// xs is an endless reader of text.
type xs struct{}

func (xs) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestManyLargestBodies sends a hundred at once. Elasticsearch is down, because what it
// makes of such documents does not matter here.
func TestManyLargestBodies(t *testing.T) {
	p := newProcess(t, "http://127.0.0.1:1")
	p.start()
	p.send("PUT", "/cities/small", `{"t":1}`)
	idle := p.memory("VmHWM")
	var large sync.WaitGroup
	var mu sync.Mutex
	accepted, answers := map[string]bool{}, map[string]int{}
	for i := range 100 {
		large.Go(func() {
			id := fmt.Sprintf("large-%d", i)
			res, err := sendWhileReading(p.deliveries, id)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				answers[err.Error()]++
				return
			}
			_ = res.Body.Close()
			answers[fmt.Sprint(res.StatusCode)]++
			if res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "" {
				t.Errorf("%s has no Retry-After", id)
			}
			if res.StatusCode == http.StatusAccepted {
				accepted[id] = true
			}
		})
	}
	ended, small := make(chan struct{}), 0
	go func() { large.Wait(); close(ended) }()
	for under := true; under; {
		if got := p.send("PUT", "/cities/small", fmt.Sprintf(`{"n":%d}`, small)); got != http.StatusAccepted {
			t.Errorf("a small delivery meanwhile is answered %d", got)
		}
		small++
		select {
		case <-ended:
			under = false
		default:
		}
	}
	memory := p.memory("VmHWM")
	t.Logf("100 bodies of 64 MiB at once: %v; %d small deliveries meanwhile; at most %d MiB of memory, %d before", answers, small, memory>>20, idle>>20)
	if answers["202"] == 0 || answers["202"]+answers["503"] != 100 {
		t.Errorf("answers %v, want 202 or 503 to each, and some 202", answers)
	}
	if memory > mostForBodies && !raceDetector {
		t.Errorf("it took %d MiB", memory>>20)
	}
	if got, want := sum(p.metrics(), "riskdex_changes_accepted_total"), float64(1+small+len(accepted)); got != want {
		t.Errorf("the journal has %v changes, want %v", got, want)
	}
}

// sendWhileReading sends one of the largest bodies, and returns the answer as soon as it
// comes, which may be before all of the body was sent.
func sendWhileReading(address, id string) (*http.Response, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	var sending sync.WaitGroup
	defer sending.Wait()
	defer conn.Close()
	sending.Go(func() {
		head := fmt.Sprintf("PUT /cities/%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", id, 64<<20)
		_, _ = io.Copy(conn, io.MultiReader(strings.NewReader(head), largest())) // it may be told to stop
	})
	return http.ReadResponse(bufio.NewReader(conn), nil)
}
