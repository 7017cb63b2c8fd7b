package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// beside returns p with other indices, to look at these.
func (p *process) beside(elasticsearch, prefix string) *process {
	other := *p
	other.elasticsearch, other.prefix = elasticsearch, prefix
	return &other
}

// rebuildTo begins rebuild --to the indices of other.
func (p *process) rebuildTo(other *process, more ...string) *running {
	return p.begin(append([]string{"rebuild", "--to", other.elasticsearch, "--to-index-prefix", other.prefix}, more...)...)
}

// interrupted ends a command as Ctrl-C does, which is no failure.
func (r *running) interrupted(t *testing.T) {
	t.Helper()
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGINT))
	if got := r.wait(); got.status != exitDone {
		t.Errorf("exit status %d; output %q %q", got.status, got.out, got.errs)
	}
}

// same waits until both have the same documents of a kind, with the same versions.
func (p *process) same(other *process, kind report.Kind) {
	p.t.Helper()
	eventually(p.t, "both clusters have the same "+string(kind), func() bool {
		return maps.Equal(p.whole(kind), other.whole(kind))
	})
}

// whole returns every document of a kind that a search finds, as it is indexed.
func (p *process) whole(kind report.Kind) map[string]string {
	p.t.Helper()
	alias := "/" + p.prefix + string(kind)
	p.ask("POST", alias+"/_refresh", "", nil)
	var found struct {
		Hits struct {
			Hits []struct {
				ID      string          `json:"_id"`
				Version int64           `json:"_version"`
				Source  json.RawMessage `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	p.ask("POST", alias+"/_search", `{"size":10000,"version":true}`, &found)
	all := map[string]string{}
	for _, hit := range found.Hits.Hits {
		all[hit.ID] = fmt.Sprint(hit.Version, " ", string(hit.Source))
	}
	return all
}

// TestRebuildToSurvivesKills fills other indices while content is delivered, and kills the
// command and riskdex meanwhile. Then serve is pointed at them: it misses nothing, also after
// it goes back.
func TestRebuildToSurvivesKills(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.expect(exitDone, "", []string{"push", "--to", "http://" + p.deliveries})
	other := p.beside(p.elasticsearch, elastictest.Prefix(t))
	l := startLoad(p, 2)
	for round := range 3 {
		filling := p.rebuildTo(other)
		l.more(t, 150)
		if round == 1 {
			p.kill()
			p.start()
		}
		require.NoError(t, filling.cmd.Process.Kill())
		filling.wait()
	}
	filling := p.rebuildTo(other, "--json")
	l.more(t, 200)
	eventually(t, "the command says that everything is there", func() bool { return strings.Contains(filling.out.String(), `"ready":true`) })
	l.stop()
	p.send("DELETE", "/cities/LON", "")
	p.send("PUT", "/cities/4711", cityBody(4711, "while it follows"))
	p.drained()
	for _, kind := range report.Kinds() {
		p.same(other, kind)
	}
	filling.interrupted(t)

	// What is delivered between the end of the command and the start of serve is not lost.
	p.send("PUT", "/cities/4711", cityBody(4711, "while nobody follows"))
	p.send("DELETE", "/cities/126", "")
	p.drained()
	had := p.whole(report.Cities)
	p.terminate()
	first := p.prefix
	p.prefix = other.prefix
	p.start()
	eventually(t, "the other indices have what the first have", func() bool { return maps.Equal(p.whole(report.Cities), had) })
	p.drained()
	p.expect(exitDone, "", []string{"verify"})
	p.expect(exitFailed, "", []string{"rebuild", "--to", p.elasticsearch, "--to-index-prefix", p.prefix}, "keeps up to date itself")
	p.send("PUT", "/cities/4711", cityBody(4711, "in the other"))
	p.drained()
	p.terminate()

	p.prefix = first
	p.start()
	eventually(t, "the first indices have it, too", func() bool { return strings.Contains(p.whole(report.Cities)["4711"], "in the other") })
	p.drained()
	p.expect(exitDone, "", []string{"verify"})
}

// TestRebuildToElasticsearch9 moves from a cluster of version 8 to one of version 9. Apps that
// search the new one as soon as they may never find less or older content.
func TestRebuildToElasticsearch9(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.expect(exitDone, "", []string{"push", "--to", "http://" + p.deliveries})
	p.send("PUT", "/cities/4711", cityBody(4711, "0"))
	p.drained()
	server := elastictest.Start(t, elasticserver.Options{Version: elasticserver.NextVersion})
	next := p.beside(server.URL(), p.prefix)
	filling := p.rebuildTo(next)
	eventually(t, "apps can be pointed at it", func() bool { return strings.Contains(filling.out.String(), "apps can be pointed at it") })

	// seen is what an app finds.
	cities := len(p.indexed(report.Cities))
	var newest int
	seen := func() {
		t.Helper()
		all := next.indexed(report.Cities)
		if len(all) < cities {
			t.Errorf("apps find %d cities, want %d", len(all), cities)
		}
		var record struct{ Body string }
		require.NoError(t, json.Unmarshal(all["4711"], &record))
		var n int
		_, err := fmt.Sscan(record.Body, &n)
		require.NoError(t, err)
		if n < newest {
			t.Errorf("apps find version %d, and found %d before", n, newest)
		}
		newest = n
	}
	for i := range 5 {
		p.send("PUT", "/cities/4711", cityBody(4711, fmt.Sprint(i+1)))
		seen()
	}
	p.drained()
	p.terminate()
	p.elasticsearch = server.URL()
	p.start()
	for i := range 5 {
		p.send("PUT", "/cities/4711", cityBody(4711, fmt.Sprint(i+6)))
		seen()
	}
	if got := filling.wait(); got.status != exitDone || !strings.Contains(got.errs, "keeps this cluster itself now") {
		t.Errorf("exit status %d; output %q %q", got.status, got.out, got.errs)
	}
	p.drained()
	if seen(); newest != 10 {
		t.Errorf("apps find version %d in the end, want 10", newest)
	}
	p.expect(exitDone, "", []string{"verify"})
}

// TestRebuildToTellsWhatIsRefused, and goes on with the rest.
func TestRebuildToTellsWhatIsRefused(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.send("PUT", "/cities/1", `{"id":1,"title":"A","risk_label":"7"}`)
	p.send("PUT", "/cities/2", `{"id":2,"title":"B","risk_label":"high"}`)
	p.drained()
	other := p.beside(p.elasticsearch, elastictest.Prefix(t))
	narrow := narrowMappings(t)
	t.Run("to whoever looks", func(t *testing.T) {
		other.admin = freeAddress(t)
		kept := p.rebuildTo(other, "--to-mappings", narrow, "--to-admin-listen", other.admin)
		eventually(t, "a dead letter", func() bool {
			return strings.Contains(other.command("", "dead", "list").out, "document_parsing_exception")
		})
		eventually(t, "the dead letter alone is told", func() bool { // the other kinds' indices may come later
			got := other.command("", "status")
			return got.status == exitWarning && strings.Contains(got.out, "Dead letters of cities: 1")
		})
		other.ask("PUT", "/"+other.prefix+"cities/_doc/9?refresh=true&version=9&version_type=external", `{"kind":"cities"}`, nil)
		other.ask("PUT", "/"+other.prefix+"cities/_doc/10?refresh=true&version=9&version_type=external", `{"kind":"cities"}`, nil)
		eventually(t, "documents too many are told", func() bool {
			return strings.Contains(other.command("", "status").out, "this cluster has 3 documents") && sum(other.metrics(), "riskdex_documents_unknown") == 1
		})
		for _, id := range []string{"9", "10"} {
			other.ask("DELETE", "/"+other.prefix+"cities/_doc/"+id+"?refresh=true&version=10&version_type=external", "", nil)
		}
		eventually(t, "no documents are too many", func() bool { return sum(other.metrics(), "riskdex_documents_unknown") == 0 })
		closed := "/" + other.prefix + other.behind(report.Advisories)
		other.ask("POST", closed+"/_close", "", nil)
		if trouble := other.says(admin.TroubleSearch); !strings.Contains(trouble.Detail, "closed") {
			t.Errorf("an index of the other cluster is closed: %+v", trouble)
		}
		if m := other.metrics(); m["riskdex_search_failing_seconds"] == 0 {
			t.Error("the metrics do not say that searches of the other cluster fail")
		}
		other.ask("POST", closed+"/_open", "", nil)
		eventually(t, "search works again", func() bool { return other.metrics()["riskdex_search_failing_seconds"] == 0 })
		address := "http://" + p.admin
		eventually(t, "only the dead letter is left, and status says whom it follows", func() bool {
			got := other.command("", "status")
			return got.status == exitWarning && strings.Contains(got.out, "follows") && strings.Contains(got.out, address)
		})
		other.expect(exitFailed, "", []string{"show", "cities", "1"}, "Ask the one that it follows: "+address)
		third := other.beside(p.elasticsearch, elastictest.Prefix(t))
		if got := third.rebuildTo(third).wait(); got.status != exitFailed || !strings.Contains(got.errs, address) {
			t.Errorf("to follow what follows: exit status %d, %q", got.status, got.errs)
		}
		if page := other.page("/"); !strings.Contains(page, "<dd>"+address) || strings.Contains(page, "/document") || strings.Contains(page, "journal on disk") || strings.Contains(page, "deliveries") {
			t.Errorf("the page does not show what there is:\n%s", page)
		}
		other.expect(exitDone, "", []string{"dead", "show", "cities", "2"}, "document_parsing_exception")
		other.expect(exitDone, "", []string{"dead", "retry", "cities", "2"})
		eventually(t, "a dead letter again", func() bool { return sum(other.metrics(), "riskdex_dead_letters") == 1 })
		other.expect(exitNegative, "", []string{"dead", "drop", "cities", "2"}, "correct the document")
		if err := other.metrics().Conserved(); err != nil {
			t.Error(err)
		}
		// What somebody deletes in the served cluster is not too much in the other.
		for _, id := range []string{"1", "2"} {
			p.ask("DELETE", "/"+p.prefix+"cities/_doc/"+id+"?refresh=true", "", nil)
		}
		other.ask("PUT", "/"+other.prefix+"special-reports/_doc/9?refresh=true", `{"kind":"special-reports"}`, nil)
		if trouble := other.says(admin.TroubleUnknown); trouble.Kind != report.SpecialReports || !strings.Contains(trouble.Remedy, "riskdex rebuild special-reports here") || sum(other.metrics(), "riskdex_documents_unknown") != 1 {
			t.Errorf("the trouble is %+v, want one about special-reports alone", trouble)
		}
		p.expect(exitDone, "", words("verify --repair cities"), "2 repaired")
		other.expect(exitDone, "", words("rebuild special-reports"))
		eventually(t, "no documents are too many", func() bool { return sum(other.metrics(), "riskdex_documents_unknown") == 0 })

		// What somebody deletes in the other is missing there, unless the repair comes later.
		version := func(of *process) int64 {
			var found struct {
				Version int64 `json:"_version"`
			}
			of.ask("GET", "/"+of.prefix+"cities/_doc/1", "", &found)
			return found.Version
		}
		eventually(t, "what was repaired is in the other", func() bool { return version(other) == version(p) })
		other.ask("DELETE", "/"+other.prefix+"cities/_doc/1?refresh=true", "", nil)
		if trouble := other.says(admin.TroubleMissing); trouble.Kind != report.Cities || !strings.HasPrefix(trouble.Remedy, "riskdex rebuild cities") || sum(other.metrics(), "riskdex_documents_missing") != 1 {
			t.Errorf("the trouble is %+v, want one about cities", trouble)
		}
		other.expect(exitDone, "", words("rebuild cities"))
		eventually(t, "no documents are missing", func() bool { return sum(other.metrics(), "riskdex_documents_missing") == 0 })
		require.NoError(t, kept.cmd.Process.Signal(syscall.SIGINT))
		kept.wait()
	})
	got := p.rebuildTo(other, "--to-mappings", narrow, "--once").wait()
	if got.status != exitNegative || !strings.Contains(got.errs, "cities 2 is refused: document_parsing_exception") {
		t.Errorf("exit status %d; output %q %q", got.status, got.out, got.errs)
	}
	if all := slices.Collect(maps.Keys(other.indexed(report.Cities))); len(all) != 1 || all[0] != "1" {
		t.Errorf("the other cluster has %v, want city 1", all)
	}
	p.send("PUT", "/cities/2", `{"id":2,"title":"B","risk_label":"3"}`)
	if got := p.rebuildTo(other, "--to-mappings", narrow, "--once").wait(); got.status != exitDone || !strings.Contains(got.out, "apps can be pointed at it") {
		t.Errorf("after it was corrected: exit status %d; output %q %q", got.status, got.out, got.errs)
	}
}

// TestRebuildToLeavesOthersAlone: whatever is wrong is told before anything is written.
func TestRebuildToLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	p, stranger := newProcess(t, elastictest.URL(t)), newProcess(t, elastictest.URL(t))
	p.start()
	stranger.start()
	stranger.indicesReady()
	p.indicesReady()
	for _, c := range []struct {
		args string
		want string
	}{
		{"--to " + p.elasticsearch + " --to-index-prefix " + stranger.prefix, "another journal"},
		{"--to " + p.elasticsearch + " --to-index-prefix " + p.prefix, "keeps up to date itself"},
		{"--to http://somebody:secret@127.0.0.1:1", "--to-password-file"},
		{"--to http://" + freeAddress(t), "connection refused"},
		{"cities --to " + p.elasticsearch, "every kind"},
		{"--once", "--to"},
		{"--to " + p.elasticsearch + " --stop", "stop"},
	} {
		p.expect(exitFailed, "", words("rebuild "+c.args), c.want)
	}
	if n := len(stranger.indexed(report.Cities)); n != 0 {
		t.Errorf("%d cities", n)
	}
}

// TestRebuildToAClusterThatDies kills the other cluster while it is filled and again while it
// is kept up to date. Each time it is back, it gets what it missed, deletes included.
func TestRebuildToAClusterThatDies(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.expect(exitDone, "", []string{"push", "--to", "http://" + p.deliveries})
	home := elastictest.Home(t)
	server := elastictest.Start(t, elasticserver.Options{Home: home})
	other := p.beside(server.URL(), elastictest.Prefix(t))
	other.admin = freeAddress(t)
	l := startLoad(p, 2)
	filling := p.rebuildTo(other, "--json", "--to-admin-listen", other.admin)
	eventually(t, "something is sent", func() bool { return strings.Contains(filling.out.String(), `"sent":`) })
	die := func() {
		server.Kill()
		l.more(t, 150)
		p.send("DELETE", "/cities/LON", "")
		eventually(t, "the metrics of the other cluster say that it is away and lags", func() bool {
			m := other.metrics()
			return m["riskdex_elasticsearch_up"] == 0 && sum(m, "riskdex_changes_pending") > 0 && m[`riskdex_lag_seconds{kind="cities"}`] >= 1
		})
		if m := p.metrics(); m["riskdex_elasticsearch_up"] != 1 {
			t.Error("the served cluster is said to be away")
		}
		server = elastictest.Start(t, elasticserver.Options{Home: home, Port: server.Port()})
		l.more(t, 150)
	}
	die()
	eventually(t, "the command says that everything is there", func() bool { return strings.Contains(filling.out.String(), `"ready":true`) })
	p.send("PUT", "/cities/LON", `{"code":"LON","title":"London"}`)
	die()
	l.stop()
	p.drained()
	for _, kind := range report.Kinds() {
		p.same(other, kind)
	}
	other.expect(exitDone, "", []string{"status"})
	if err := other.metrics().Conserved(); err != nil {
		t.Error(err)
	}
	p.terminate()
	eventually(t, "the metrics do not say how far it lags while nobody can know", func() bool {
		_, known := other.metrics()[`riskdex_lag_seconds{kind="cities"}`]
		return !known
	})
	other.expect(exitNegative, "", []string{"status"}, "cannot be read")
	p.start()
	eventually(t, "all is well with the other cluster", func() bool { return other.command("", "status").status == exitDone })

	// A journal of another line, such as after a start in another folder, is not for this cluster.
	had := other.whole(report.Cities)
	p.terminate()
	was := p.journal
	p.journal = filepath.Join(t.TempDir(), "another.db")
	p.start()
	p.send("PUT", "/cities/2001", cityBody(2001, "of another journal"))
	eventually(t, "the status names the other journal", func() bool { return strings.Contains(other.command("", "status").out, "another journal") })
	if !maps.Equal(other.whole(report.Cities), had) {
		t.Error("the cluster has documents of another journal")
	}
	p.terminate()
	p.journal = was
	p.start()
	eventually(t, "all is well again", func() bool { return other.command("", "status").status == exitDone })
	filling.interrupted(t)
}
