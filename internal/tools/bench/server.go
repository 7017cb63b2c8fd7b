package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// server asks Elasticsearch directly.
type server struct{ url string }

// ask sends a request, and decodes the answer into v unless that is nil. Any status but a
// success is an error.
func (s server) ask(ctx context.Context, method, path string, body []byte, v any) error {
	text, err := request(ctx, method, s.url+path, body)
	if err != nil || v == nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return nil
}

// request sends a request with a JSON body and returns the answer. Any status but a success
// is an error.
func request(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: read the answer: %w", method, url, err)
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: status %d: %.300s", method, url, res.StatusCode, text)
	}
	return text, nil
}

// refresh makes everything visible that was written to an index.
func (s server) refresh(ctx context.Context, index string) {
	check(s.ask(ctx, "POST", "/"+index+"/_refresh", nil, nil))
}

// count returns how many documents a search of an index can find.
func (s server) count(ctx context.Context, index string) (int, error) {
	var answer struct{ Count int }
	err := s.ask(ctx, "GET", "/"+index+"/_count", nil, &answer)
	return answer.Count, err
}

// writtenEvery is the interval of checks whether all is written. A check takes some 2 ms of
// Elasticsearch's time, which the measurement lacks, and comes 0.05 s late on average.
const writtenEvery = 100 * time.Millisecond

// awaitWritten waits until n documents have been written to an index.
func (s server) awaitWritten(ctx context.Context, index string, n int) {
	check(until(ctx, writtenEvery, func() (bool, error) {
		has, err := s.written(ctx, index)
		return has >= n, err
	}))
}

// written returns how many documents have been written to an index since it was created,
// visible or not.
func (s server) written(ctx context.Context, index string) (int, error) {
	var answer struct {
		All struct {
			Primaries struct {
				Indexing struct {
					Total int `json:"index_total"`
				}
			}
		} `json:"_all"`
	}
	err := s.ask(ctx, "GET", "/"+index+"/_stats/indexing?filter_path=_all.primaries.indexing.index_total", nil, &answer)
	return answer.All.Primaries.Indexing.Total, err
}

// spends returns the CPU time that the server takes for something, but for that of its compilers,
// which take more than all else for the first minutes, and next to nothing later.
func (s server) spends(ctx context.Context, use func()) time.Duration {
	pid := s.pid(ctx)
	compilers := must(compilersOf(pid))
	all := spends(pid, use)
	return all - (must(compilersOf(pid)) - compilers)
}

// pid returns the number of the server's process.
func (s server) pid(ctx context.Context) (pid int) {
	var info struct {
		Nodes map[string]struct{ Process struct{ ID int } }
	}
	check(s.ask(ctx, "GET", "/_nodes/process", nil, &info))
	for _, node := range info.Nodes {
		pid = node.Process.ID
	}
	return pid
}

// settle waits until Elasticsearch is idle, so that merges and the like of the previous
// measurement do not disturb the next one.
func (s server) settle(ctx context.Context) {
	pid := s.pid(ctx)
	for spends(pid, func() { check(wait(ctx, time.Second)) }) >= 100*time.Millisecond {
	}
}

// forget deletes the indices whose names begin with prefix.
func (s server) forget(ctx context.Context, prefix string) {
	var found map[string]json.RawMessage
	check(s.ask(ctx, "GET", "/"+prefix+"*/_alias?expand_wildcards=all", nil, &found))
	for name := range found {
		if strings.HasPrefix(name, prefix) {
			check(s.ask(ctx, "DELETE", "/"+name, nil, nil))
		}
	}
}

// until calls ok at intervals until it returns true or an error.
func until(ctx context.Context, every time.Duration, ok func() (bool, error)) error {
	for {
		is, err := ok()
		if is || err != nil {
			return err
		}
		if err := wait(ctx, every); err != nil {
			return err
		}
	}
}
