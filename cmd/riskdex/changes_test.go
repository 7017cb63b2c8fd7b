package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"riskdex/internal/exportline"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
)

// copyOf is what a program keeps of riskdex changes --json: it takes a page as a whole, with the
// place to go on from.
type copyOf struct {
	has   map[string]string // records by kind and id
	after string
}

// apply reads lines until enough says so after a page, or the end.
func (c *copyOf) apply(lines io.Reader, enough func() bool) {
	page := map[string]string{}
	in := bufio.NewScanner(lines)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var line struct {
			Kind, ID, Next string
			Deleted        bool
			Record         json.RawMessage
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return // cut off by a kill
		}
		switch {
		case line.Next == "":
			page[line.Kind+" "+line.ID] = string(line.Record)
			continue
		default:
			for k, record := range page {
				if c.has[k] = record; record == "" {
					delete(c.has, k)
				}
			}
			clear(page)
			c.after = line.Next
		}
		if enough() {
			return
		}
	}
}

// exported returns what an export has, in the same form.
func (p *process) exported() map[string]string {
	p.t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(p.expect(exitDone, "", words("export")).out) {
		l, err := exportline.Parse([]byte(line))
		require.NoError(p.t, err)
		all[string(l.Kind)+" "+string(l.ID)] = string(l.Record)
	}
	return all
}

// TestChangesAfterKills kills riskdex, and who follows its changes, again and again. The copy of
// the follower is that of riskdex in the end, and it never had to begin anew.
func TestChangesAfterKills(t *testing.T) {
	for engine, journal := range map[string]func() string{"SQLite": nil, "PostgreSQL": func() string { return postgrestest.URL(t) }} {
		t.Run(engine, func(t *testing.T) {
			p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
			if journal != nil {
				p.journal = journal()
			}
			p.start()
			copied := &copyOf{has: map[string]string{}}
			for round := range 4 {
				args := append(words("changes --json --follow --admin"), "http://"+p.admin)
				if copied.after != "" {
					args = append(args, "--after", copied.after)
				}
				follower := exec.Command(os.Args[0], args...)
				follower.Env = append(os.Environ(), asRiskdex+"=1")
				out, err := follower.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, follower.Start())
				began, applied := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(applied)
					pages := 0
					copied.apply(out, func() bool {
						if pages++; pages == 1 {
							close(began)
						}
						return pages > round
					})
				}()
				for n := range 60 {
					method, body := http.MethodPut, cityBody(n, fmt.Sprint("round ", round))
					if n%7 == round {
						method, body = http.MethodDelete, ""
					}
					p.send(method, fmt.Sprint("/cities/", n), body)
					if n == 40 && round%2 == 1 {
						p.kill()
						p.start()
					}
				}
				<-began // how many pages there are depends on how fast it asks
				require.NoError(t, follower.Process.Kill())
				<-applied
				_ = follower.Wait()
			}
			rest := p.expect(exitDone, "", []string{"changes", "--json", "--after", copied.after})
			copied.apply(strings.NewReader(rest.out), func() bool { return false })
			if want := p.exported(); len(want) < 40 || !maps.Equal(copied.has, want) {
				t.Errorf("the copy has\n%v\nand riskdex\n%v", copied.has, want)
			}
			p.expect(exitDone, "", words("changes cities"), "cities 3: deleted", "cities 0: ")
			p.expect(exitFailed, "", words("changes --after 5"), "not a cursor")
			if n := sum(p.metrics(), "riskdex_feed_gone_total"); n != 0 {
				t.Errorf("%v calls were told to begin anew", n)
			}
		})
	}
}

// TestChangesFollowsThroughOutages of riskdex, and of its journal: it goes on where it was.
func TestChangesFollowsThroughOutages(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	page := func(id, next string) string {
		return `{"items":[{"kind":"cities","id":"` + id + `","version":1,"accepted_at":"2026-11-23T10:00:00Z","deleted":true}],"next":"` + next + `","more":false}`
	}
	answers := []struct {
		status   int
		after    string
		contents string
	}{
		{http.StatusOK, "", page("one", "a")},
		{http.StatusInternalServerError, "a", `{"status":500,"title":"Internal Server Error","detail":"the journal cannot be read"}`},
		{http.StatusServiceUnavailable, "a", `{"status":503,"title":"Service Unavailable","detail":"busy"}`},
		{http.StatusOK, "a", page("two", "b")},
	}
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls == len(answers) {
			cancel()
			return
		}
		a := answers[calls]
		calls++
		if got := r.URL.Query().Get("after"); got != a.after {
			t.Errorf("call %d is for what came after %q, want %q", calls, got, a.after)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.contents)
	}))
	defer server.Close()
	var out, told strings.Builder
	c := changesCommand{adminSettings: adminSettings{Admin: server.URL}, Follow: true}
	require.NoError(t, c.Run(ctx, streams{out: &out, err: &told}))
	if got := out.String(); calls != len(answers) || !strings.Contains(got, "one: deleted") || !strings.Contains(got, "two: deleted") || strings.Count(told.String(), "\n") != 1 {
		t.Errorf("after %d calls it printed %q, and told %q", calls, got, told.String())
	}
}
