package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/follow"
	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// follower returns a riskdex that is to follow p, with indices of its own.
func (p *process) follower(elasticsearch string) *process {
	p.t.Helper()
	f := newProcess(p.t, elasticsearch)
	f.follow(p)
	return f
}

// follow has p follow another riskdex from its next start on; nil has it take deliveries.
func (p *process) follow(other *process) {
	p.extra = nil
	if other != nil {
		p.extra = []string{"--follow", "http://" + other.admin}
	}
}

// same waits until searches of both find the same documents of all kinds.
func (p *process) same(other *process) {
	p.t.Helper()
	for _, kind := range report.Kinds() {
		eventually(p.t, "both have the same "+string(kind), func() bool { return maps.Equal(p.records(kind), other.records(kind)) })
	}
}

// records returns the records that a search finds.
func (p *process) records(kind report.Kind) map[string]string {
	p.t.Helper()
	all := map[string]string{}
	for id, source := range p.indexed(kind) {
		all[id] = string(source)
	}
	return all
}

// notFollowed waits until p says why it cannot follow, with some text.
func (p *process) notFollowed(text string) {
	p.t.Helper()
	eventually(p.t, "status and metrics say that it cannot follow", func() bool {
		st := p.status()
		return st.Follows != nil && strings.Contains(st.Follows.Error, text) && p.metrics()["riskdex_follow_failing_seconds"] > 0
	})
}

// TestFollowerSurvivesKills of itself and of the riskdex that it follows. Then they change their roles.
func TestFollowerSurvivesKills(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.expect(exitDone, "", []string{"push", "--to", "http://" + p.deliveries})
	f := p.follower(p.elasticsearch)
	f.start()
	f.indicesReady()
	l := startLoad(p, 2)
	for _, one := range []*process{f, p, f} {
		l.more(t, 100)
		one.kill()
		l.moreOrNone(t, one == p)
		one.start()
	}
	l.more(t, 100)
	l.stop()
	p.send("DELETE", "/cities/LON", "")
	p.send("PUT", "/cities/4711", cityBody(4711, "the last"))
	p.drained()
	p.same(f)
	f.drained()
	f.expect(exitDone, "", words("verify"))
	if page := f.page("/"); !strings.Contains(page, "http://"+p.admin) || !strings.Contains(page, "last deliveries") {
		t.Errorf("the page does not say whom it follows:\n%s", page)
	}
	status, answer := elastictest.Ask(t, "PUT", "http://"+f.deliveries+"/cities/1", `{}`)
	if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "http://"+p.admin) {
		t.Errorf("a delivery is answered %d %s, want one that names the riskdex that is followed", status, answer)
	}

	p.terminate()
	f.notFollowed("no riskdex answers")
	f.terminate()
	f.follow(nil)
	f.start()
	f.send("DELETE", "/cities/4711", "")
	f.send("PUT", "/cities/4712", cityBody(4712, "after that"))
	p.follow(f)
	p.start()
	f.drained()
	f.same(p)
	eventually(t, "it says why all was read anew", func() bool {
		a := p.status().Follows.Anew
		return a != nil && a.Done
	})
	f.terminate()
	f.follow(p)
	f.start()
	f.notFollowed("follows this riskdex itself")
}

// moreOrNone waits for more deliveries, unless nobody takes them.
func (l *load) moreOrNone(t *testing.T, none bool) {
	if !none {
		l.more(t, 50)
	}
}

// TestFollowerOnElasticsearch9, which is killed meanwhile, beside a cluster of version 8. Apps that search
// the new one never find older content than before.
func TestFollowerOnElasticsearch9(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.expect(exitDone, "", []string{"push", "--to", "http://" + p.deliveries})
	home := elastictest.Home(t)
	server := elastictest.Start(t, elasticserver.Options{Version: elasticserver.NextVersion, Home: home})
	f := p.follower(server.URL())
	f.start()
	f.indicesReady()
	for i := range torture.Extent(1, 3) {
		server.Kill()
		p.send("PUT", "/cities/4711", cityBody(4711, fmt.Sprint(i)))
		p.send("DELETE", "/cities/LON", "")
		eventually(t, "its metrics say that its cluster is away, and it lags", func() bool {
			m := f.metrics()
			return m["riskdex_elasticsearch_up"] == 0 && m[`riskdex_changes_pending{kind="cities"}`] > 0 && m[`riskdex_lag_seconds{kind="cities"}`] > 0
		})
		eventually(t, "the cluster of the riskdex that is followed is up", func() bool { return p.metrics()["riskdex_elasticsearch_up"] == 1 })
		server = elastictest.Start(t, elasticserver.Options{Version: elasticserver.NextVersion, Home: home, Port: server.Port()})
		newest := ""
		eventually(t, "an app finds the last change", func() bool {
			var record struct{ Body string }
			if text := f.indexed(report.Cities)["4711"]; text != nil {
				require.NoError(t, json.Unmarshal(text, &record))
			}
			if record.Body < newest {
				t.Errorf("apps find version %s, and found %s before", record.Body, newest)
			}
			newest = record.Body
			return newest == fmt.Sprint(i)
		})
	}
	p.drained()
	p.same(f)
	f.drained()
	f.expect(exitDone, "", words("verify"))
}

// forgetDeletes drops all tombstones of a riskdex that does not run, as time does.
func (p *process) forgetDeletes() {
	p.t.Helper()
	j, err := sqlite.Open(p.t.Context(), p.journal, journal.Options{KeepDeleted: time.Nanosecond, Log: slog.New(slog.DiscardHandler)})
	require.NoError(p.t, err)
	n, err := j.DropDeleted(p.t.Context())
	require.NoError(p.t, err)
	if n == 0 {
		p.t.Error("there was no tombstone")
	}
	require.NoError(p.t, j.Close())
}

// TestFollowerThatWasAwayForTooLong begins anew: deletes are forgotten that came meanwhile. A journal of
// another line, such as after a start in another folder, is not followed.
func TestFollowerThatWasAwayForTooLong(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.fill(5)
	f := p.follower(p.elasticsearch)
	f.start()
	f.indicesReady()
	p.same(f)
	f.terminate()
	p.send("DELETE", "/cities/1", "")
	p.send("PUT", "/cities/2", cityBody(2, "while nobody follows"))
	p.drained()
	p.terminate()
	p.forgetDeletes()
	p.start()
	f.start()
	p.same(f)
	if n := len(f.records(report.Cities)); n != 4 {
		t.Errorf("it has %d cities, want 4", n)
	}
	eventually(t, "log and status say so", func() bool {
		a := f.status().Follows.Anew
		return a != nil && a.Done && a.Why == report.ErrCursorTooOld.Error() && strings.Contains(f.log.String(), "no longer has")
	})
	had := f.records(report.Cities)
	was := p.journal
	p.terminate()
	p.journal = filepath.Join(t.TempDir(), "another.db")
	p.start()
	f.notFollowed("another journal")
	if !maps.Equal(f.records(report.Cities), had) {
		t.Error("it has taken over something of another journal")
	}
	p.terminate()
	p.journal = was
	p.start()
	eventually(t, "it follows again", func() bool { return f.status().Follows.Error == "" })
}

// TestFollowersDeadLetters are its own: what its cluster refuses is no matter of the one that is followed.
func TestFollowersDeadLetters(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.send("PUT", "/cities/1", `{"id":1,"title":"A","risk_label":"7"}`)
	p.send("PUT", "/cities/2", `{"id":2,"title":"B","risk_label":"high"}`)
	p.drained()
	f := p.follower(p.elasticsearch)
	f.extra = append(f.extra, "--mappings", narrowMappings(t))
	f.start()
	f.indicesReady()
	if trouble := f.says(admin.TroubleDeadLetters); trouble.Kind != report.Cities {
		t.Errorf("the trouble is %+v", trouble)
	}
	if n := sum(p.metrics(), "riskdex_dead_letters"); n != 0 {
		t.Errorf("the riskdex that is followed has %v dead letters", n)
	}
	p.send("PUT", "/cities/2", `{"id":2,"title":"B","risk_label":"3"}`)
	eventually(t, "the correction clears it", func() bool { return len(f.records(report.Cities)) == 2 })
	f.drained()
}

// TestFollowerRefusesDeliveries, and is alive.
func TestFollowerRefusesDeliveries(t *testing.T) {
	alive := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	observed := 0
	handler := refuseDeliveries("http://first:8081", alive, func(report.Answered) { observed++ })
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/livez", 200}, {"HEAD", "/livez", 200}, {"PUT", "/livez", 503}, {"GET", "/readyz", 503}, {"PUT", "/cities/1", 503}, {"DELETE", "/cities/1", 503},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))
		if w.Code != c.status || c.status == 503 && !strings.Contains(w.Body.String(), "http://first:8081") {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
	}
	if observed != 4 {
		t.Errorf("%d answers were noted", observed)
	}
}

// TestWhatIsNoFeedIsNotTaken, such as the page of a proxy, half an answer or another program's.
func TestWhatIsNoFeedIsNotTaken(t *testing.T) {
	for _, answer := range []string{
		"<!DOCTYPE html><title>Sign in</title>", `{}`, `[]`, `null`, ``, `{"items":[{"kind":"cities","id":"1","version":1,"accepted_at":"2026-01-02T03:04:05Z","deleted":true}],"ne`,
		`{"items":[{"kind":"cities","id":"1","version":1,"accepted_at":"2026-01-02T03:04:05Z","record":{}}],"next":"1.1.cas.feed","more":false}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		defer server.Close()
		source, err := followSettings{Follow: server.URL}.followed()
		require.NoError(t, err)
		page, err := source.Feed(t.Context(), report.Cursor{Kinds: report.Kinds()}, false)
		if err == nil {
			t.Errorf("%s: is the page %+v", answer, page)
		}
		if strings.Contains(answer, "record") {
			continue // it lists a document
		}
		if list, err := source.Entries(t.Context(), report.Cities, "", 10); err == nil {
			t.Errorf("%s: is the list %+v", answer, list)
		}
		if err := follow.Check(t.Context(), source, "own", ""); err == nil {
			t.Errorf("%s: it can be followed", answer)
		}
	}
}

// TestCheckAsksTheRiskdexThatIsFollowed.
func TestCheckAsksTheRiskdexThatIsFollowed(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	f := p.follower(p.elasticsearch)
	f.check(f.extra...).says(t, exitNegative, "wrong no riskdex answers")
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("a-token-of-the-operator\n"), 0o600))
	p.extra = []string{"--admin-token-file", token}
	p.token = "a-token-of-the-operator"
	p.start()
	f.check(f.extra...).says(t, exitNegative, "wrong http://"+p.admin)
	f.extra = append(f.extra, "--follow-token-file", token)
	eventually(t, "it has compared its journal with the indices", func() bool { return f.check(f.extra...).status == exitDone })
	f.check(f.extra...).says(t, exitDone, "fine http://"+p.admin+" can be followed")
	f.journal, p.journal = p.journal, f.journal
	f.check(f.extra...).says(t, exitNegative, "wrong has the journal of this riskdex itself")
}
