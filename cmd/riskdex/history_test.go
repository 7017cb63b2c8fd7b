package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
)

// eachEngine runs a test with a journal of either engine.
func eachEngine(t *testing.T, f func(t *testing.T, journal string)) {
	t.Run("sqlite", func(t *testing.T) { f(t, "") })
	t.Run("postgres", func(t *testing.T) { f(t, postgrestest.URL(t)) })
}

// past asks for the history of a document.
func (p *process) past(kind, id, more string) (past admin.Past) {
	p.t.Helper()
	res, err := http.Get("http://" + p.admin + "/api/history?kind=" + kind + "&id=" + url.QueryEscape(id) + more)
	require.NoError(p.t, err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		p.t.Fatalf("the history of %s %s: %s", kind, id, res.Status)
	}
	require.NoError(p.t, json.NewDecoder(res.Body).Decode(&past))
	return past
}

// TestHistoryCommand follows a document through its versions, and through a restart without
// history.
func TestHistoryCommand(t *testing.T) {
	eachEngine(t, func(t *testing.T, journal string) {
		p := newProcess(t, elastictest.URL(t), "--probe-every", "0", "--history", "90d")
		if journal != "" {
			p.journal = journal
		}
		p.start()
		deliver := func(method, path, body string) time.Time {
			t.Helper()
			if got := p.send(method, path, body); got != http.StatusAccepted {
				t.Fatalf("%s %s got status %d", method, path, got)
			}
			p.drained()
			return time.Now()
		}
		long := strings.Repeat("what a traveller has to know. ", 10)
		first := deliver("PUT", "/cities/LON", `{"id":"130","code":"LON","title":"London","risk_level":2,"text":"`+long+`"}`)
		second := deliver("PUT", "/cities/130", `{"id":"130","code":"LON","title":"London","risk_level":4,"text":"`+long+`And more of it."}`)
		deleted := deliver("DELETE", "/cities/LON", "")
		deliver("PUT", "/cities/130", `{"id":"130","code":"LON","title":"London again"}`)

		p.expect(exitDone, "", words("history cities lon"), "cities 130\n", "PUT /cities/LON", "DELETE /cities/LON", "127.0.0.1", "created",
			"risk_level 2 → 4, text +15 −0", "deleted", "created anew", " to ", "since ")
		versions := p.past("cities", "LON", "").Versions
		if len(versions) != 4 || versions[3].SearchableAt == nil || versions[3].SearchableUntil == nil || versions[0].SearchableUntil != nil {
			t.Fatalf("the versions are %+v", versions)
		}
		at := func(when time.Time) string { return when.UTC().Format(time.RFC3339Nano) }
		p.expect(exitDone, "", []string{"history", "cities", "LON", "--at", at(first)}, `"risk_level":2`, "this version", "by 127.0.0.1, PUT /cities/LON")
		if out := p.expect(exitDone, "", []string{"history", "cities", "LON", "--body", "--at", at(second)}).out; !strings.HasSuffix(out, `And more of it."}`) {
			t.Errorf("--body printed %s", out)
		}
		p.expect(exitDone, "", []string{"history", "cities", "LON", "--at", at(deleted)}, "the document was deleted", "nothing of it")
		p.expect(exitFailed, "", words("history cities LON --at 2020-01-01"), "has no version at 2020-01-01T00:00:00Z")
		p.expect(exitFailed, "", words("history cities LON --at yesterday"), "write it like")
		p.expect(exitFailed, "", words("history cities LON --at 2100-01-01"), "is in the future")
		p.expect(exitFailed, "", words("history cities LON --limit 0"), "--limit must be at least 1")
		p.expect(exitFailed, "", words("history cities LON --diff 0 5"), "there is no version 0")
		p.expect(exitFailed, "", words("history cities XXX"), "The journal has nothing of cities XXX")
		a, b := fmt.Sprint(versions[3].Version), fmt.Sprint(versions[2].Version)
		p.expect(exitNegative, "", []string{"history", "cities", "LON", "--diff", a, b}, "/risk_level\n- 2\n+ 4\n", "/text\n- what", "+ what")
		p.expect(exitNegative, "", []string{"history", "cities", "LON", "--diff", at(first), at(second)}, "/risk_level\n- 2\n+ 4\n")
		p.expect(exitDone, "", []string{"history", "cities", "LON", "--diff", a, a}, "They state the same")
		p.expect(exitFailed, "", []string{"history", "cities", "LON", "--diff", a, fmt.Sprint(versions[1].Version)}, "has no record to compare")
		p.expect(exitFailed, "", []string{"history", "cities", "LON", "--diff", a}, "needs two")
		if out := p.command("", words("show cities LON")...).out; !strings.Contains(out, "by 127.0.0.1, PUT /cities/130") { // whether a search finds it yet
			t.Errorf("show printed\n%s", out)
		}
		p.expect(exitDone, "", words("status"), "history", "4 versions of ")
		if n := sum(p.metrics(), "riskdex_history_entries"); n != 4 {
			t.Errorf("the metric counts %v entries", n)
		}

		if status := p.terminate(); status != exitDone {
			t.Fatal(status)
		}
		p.extra = []string{"--probe-every", "0"}
		p.start()
		deliver("PUT", "/cities/130", `{"id":"130","code":"LON","title":"while history is off"}`)
		p.expect(exitDone, "", words("history cities LON"), "is not kept", "History is off", "PUT /cities/LON")
		p.expect(exitDone, "", words("status"), "history is off")
		if out := p.command("", words("show cities LON")...).out; strings.Contains(out, "127.0.0.1") {
			t.Errorf("show names a sender that was not kept:\n%s", out)
		}
	})
}

// TestHistoryAgreesAfterKills: whatever was acknowledged is in the history once, in order, and
// nothing else than what was sent.
func TestHistoryAgreesAfterKills(t *testing.T) {
	eachEngine(t, func(t *testing.T, journal string) {
		p := newProcess(t, elastictest.URL(t), "--probe-every", "0", "--history", "90d")
		if journal != "" {
			p.journal = journal
		}
		p.start()
		const documents = 6
		var acknowledged [documents][]string
		var count atomic.Int64
		var senders sync.WaitGroup
		stop := make(chan struct{})
		for d := range documents {
			senders.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					body := fmt.Sprintf(`{"title":"%d","text":"%s"}`, n, strings.Repeat("x", n%2000))
					req, err := http.NewRequest(http.MethodPut, fmt.Sprintf("http://%s/advisories/%d", p.deliveries, d), strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					res, err := p.sender.Do(req)
					if err != nil {
						continue // killed
					}
					res.Body.Close()
					if res.StatusCode == http.StatusAccepted {
						acknowledged[d] = append(acknowledged[d], body)
						count.Add(1)
					}
				}
			})
		}
		for range torture.Extent(4, 40) {
			target := count.Load() + 60
			eventually(t, "more was acknowledged", func() bool { return count.Load() >= target })
			p.kill()
			p.start()
		}
		close(stop)
		senders.Wait()
		p.drained()
		for d := range documents {
			id := fmt.Sprint(d)
			var told []string
			for next := ""; ; {
				page := p.past("advisories", id, "&limit=200"+next)
				for _, v := range page.Versions {
					one := p.past("advisories", id, fmt.Sprintf("&version=%d", v.Version)).Versions[0]
					if one.Lost != "" || one.Gap || one.Address != "127.0.0.1" {
						t.Fatalf("a version is %+v", one)
					}
					told = append(told, one.Body)
				}
				if page.Next == "" {
					break
				}
				next = "&before=" + page.Next
			}
			unacknowledged, i := 0, len(told)-1
			for _, want := range acknowledged[d] {
				for ; i >= 0 && told[i] != want; i-- {
					unacknowledged++
				}
				if i < 0 {
					t.Fatalf("document %s: %.40s was acknowledged and is not in the history in its place", id, want)
				}
				i--
			}
			if unacknowledged+i+1 > torture.Extent(4, 40) {
				t.Errorf("document %s: %d versions that were not acknowledged", id, unacknowledged+i+1)
			}
		}
	})
}
