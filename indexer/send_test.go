package indexer

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"riskdex/elastic"
	"riskdex/report"
)

// scripted is a fake Elasticsearch whose answers the test determines.
type scripted struct {
	t       *testing.T
	mu      sync.Mutex // held while it answers: a connection that is cut orders nothing
	indexer *Indexer
	// bulk returns the status for a bulk with these documents, and whether to cut the
	// connection instead.
	bulk    func(ids []string) (status int, cut bool)
	started int    // when its only node was started
	nodes   int    // the status of the answer about its nodes; 0 means 200
	index   string // the answer about the index; "" means ready
	bulks   []string
}

func newScripted(t *testing.T, bulk func(ids []string) (status int, cut bool)) *scripted {
	s := &scripted{t: t, bulk: bulk, indexer: new(checking).indexer(t)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var err error
	if s.indexer.client, err = elastic.NewClient(elastic.Connection{URL: server.URL}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(req.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasPrefix(req.URL.Path, "/_nodes"):
		w.WriteHeader(max(http.StatusOK, s.nodes))
		fmt.Fprintf(w, `{"_nodes":{"total":1,"failed":0},"nodes":{"a":{"jvm":{"start_time_in_millis":%d}}}}`, s.started)
		return
	case strings.HasSuffix(req.URL.Path, "/_mget"):
		if s.index != "" {
			fmt.Fprintf(w, `{"docs":[{"_id":"x","error":{"type":%q,"reason":""}}]}`, s.index)
			return
		}
		id := strings.Split(string(body), `"`)[3]
		fmt.Fprintf(w, `{"docs":[{"_index":"cities","_id":%q,"found":false}]}`, id)
		return
	}
	var ids, items []string
	for line := range strings.Lines(string(body)) {
		action, rest, ok := strings.Cut(strings.TrimPrefix(line, `{"`), `":{"_id":"`)
		if !ok {
			continue
		}
		id, _, _ := strings.Cut(rest, `"`)
		if strings.Contains(rest, `"version":1}`) {
			s.bulks = append(s.bulks, "see")
			if status, _ := s.bulk([]string{"see"}); status != http.StatusOK {
				w.WriteHeader(status)
				return
			}
			fmt.Fprintf(w, `{"items":[{"delete":{"_index":"cities","_id":%q,"result":"not_found","status":404,"_shards":{"total":1,"successful":1}}}]}`, id)
			return
		}
		result := map[string]string{"index": "updated", "delete": "deleted"}[action]
		ids, items = append(ids, id), append(items, fmt.Sprintf(`{%q:{"_index":"cities","_id":%q,"result":%q,"status":200,"_shards":{"total":1,"successful":1}}}`, action, id, result))
	}
	s.bulks = append(s.bulks, strings.Join(ids, " "))
	status, cut := s.bulk(ids)
	if cut {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	if status == http.StatusOK {
		fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
	}
}

// answered waits for the answer under way, so that the test sees what that did, and the next one
// sees what the test does.
func (s *scripted) answered() {
	s.mu.Lock()
	s.mu.Unlock() //nolint:staticcheck // it only orders
}

// send sends documents. An id that begins with "delete" is a delete, and one that begins
// with "large" is a large document.
func (s *scripted) send(ids ...string) string {
	s.t.Helper()
	s.answered()
	defer s.answered()
	var batch []prepared
	for _, id := range ids {
		p := prepared{change: report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: report.Index, Version: 1}}
		if strings.HasPrefix(id, "delete") {
			p.change.Op = report.Delete
		}
		p.lines = fmt.Appendf(nil, `{"%s":{"_id":%q}}`+"\n", p.change.Op, id)
		if strings.HasPrefix(id, "large") {
			p.lines = append(p.lines, `{"text":"`+strings.Repeat("x", plausiblySmall)+`"}`+"\n"...)
		} else if p.change.Op == report.Index {
			p.lines = append(p.lines, "{}\n"...)
		}
		batch = append(batch, p)
	}
	judgements := s.indexer.send(s.t.Context(), report.Cities, "cities", batch)
	var verdicts []string
	for _, j := range judgements {
		verdicts = append(verdicts, j.verdict.String())
	}
	return strings.Join(verdicts, " ")
}

func (s *scripted) want(got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s, want %s; bulks %q", got, want, s.bulks)
	}
}

// spoils answers bulks that have the document with status, or cuts the connection.
func spoils(id string, status int) func(ids []string) (int, bool) {
	return func(ids []string) (int, bool) {
		if slices.Contains(ids, id) {
			return status, status == 0
		}
		return http.StatusOK, false
	}
}

func TestRefusedAloneIsDeadOnlyBesideOthers(t *testing.T) {
	t.Parallel()
	s := newScripted(t, spoils("venom", http.StatusBadRequest))
	s.want(s.send("a", "b", "venom"), "settled settled dead")
	s.indexer.failing.forget(change("venom").Key)
	s.want(s.send("venom"), "retry")
	s.want(s.send("venom"), "retry")
	s.want(s.send("c"), "settled")
	s.want(s.send("venom"), "dead")
	// It is the first, so nothing was read when it was refused. The others wait for the
	// next task, which sends them first.
	s = newScripted(t, spoils("venom", http.StatusBadRequest))
	s.want(s.send("venom", "a", "b"), "retry retry retry")
	s.want(s.send("venom", "a", "b"), "dead settled settled")
}

// TestRefusalsThatBeginInATaskBlameNobody: some documents were read before the refusals
// began, none after.
func TestRefusalsThatBeginInATaskBlameNobody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge} {
		for read := range 6 {
			n := 0
			s := newScripted(t, func(ids []string) (int, bool) {
				if n++; len(ids) > 1 || n > 4+read {
					return status, false
				}
				return http.StatusOK, false
			})
			if got := s.send("a", "large b", "c", "large d", "e", "f", "g", "delete h"); strings.Contains(got, "dead") {
				t.Errorf("after %d bulks, all with %d: %s", 4+read, status, got)
			}
		}
	}
}

// TestRefusalsThatBeginBetweenTwoBulksBlameNobody: others were read immediately before.
func TestRefusalsThatBeginBetweenTwoBulksBlameNobody(t *testing.T) {
	t.Parallel()
	for read := range 4 {
		n := 0
		s := newScripted(t, func([]string) (int, bool) {
			if n++; n > read {
				return http.StatusRequestEntityTooLarge, false
			}
			return http.StatusOK, false
		})
		s.indexer.failing.alone(change("large"), false, 0, false)
		s.indexer.failing.alone(change("large too"), false, 0, false)
		if got := s.send("a", "large", "large too"); strings.Contains(got, "dead") {
			t.Errorf("after %d bulks: %s", read, got)
		}
	}
}

// TestEveryOtherRequestIsRefused, as if one of two proxies were wrong.
func TestEveryOtherRequestIsRefused(t *testing.T) {
	t.Parallel()
	for first := range 2 {
		n := first
		s := newScripted(t, func([]string) (int, bool) {
			if n++; n%2 == 0 {
				return http.StatusBadRequest, false
			}
			return http.StatusOK, false
		})
		for range 10 {
			if got := s.send("a", "b", "c", "d", "e"); strings.Contains(got, "dead") {
				t.Error(got)
			}
			s.indexer.failing.alone(change("e"), false, 0, false)
		}
	}
}

// TestRefusalsByChanceBlameNobody, such as by one of two proxies, while other lanes send
// in between.
func TestRefusalsByChanceBlameNobody(t *testing.T) {
	t.Parallel()
	for refusals, want := range map[int]string{blameAfter: "settled", blameUnsaidAfter - 1: "settled", blameUnsaidAfter: "dead"} {
		n := 0
		s := newScripted(t, func(ids []string) (int, bool) {
			if ids[0] == "c" {
				if n++; n <= refusals {
					return http.StatusBadRequest, false
				}
			}
			return http.StatusOK, false
		})
		s.indexer.failing.alone(change("c"), false, 0, false) // by itself, from the start
		s.want(s.send("a", "b", "c"), "settled settled "+want)
	}
}

// TestTooLargeBlamesOnlyWhatIsLarge, and no delete.
func TestTooLargeBlamesOnlyWhatIsLarge(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"large": "dead", "small": "retry", "delete": "retry"} {
		s := newScripted(t, spoils(id, http.StatusRequestEntityTooLarge))
		s.want(s.send("a", "b", id), "settled settled "+want)
	}
	s := newScripted(t, func([]string) (int, bool) { return http.StatusRequestEntityTooLarge, false })
	for range 5 {
		s.want(s.send("a", "large", "delete"), "retry retry retry")
	}
}

// TestSmallerBulksAfterOneThatFailed: in the end the cause goes alone, after all others.
func TestSmallerBulksAfterOneThatFailed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{0, http.StatusBadGateway, http.StatusForbidden} {
		s := newScripted(t, spoils("17", status))
		var ids []string
		for i := range 100 {
			ids = append(ids, fmt.Sprint(i))
		}
		left := ids
		for tasks := 0; len(left) > 1; tasks++ {
			if tasks == 5 {
				t.Fatalf("%d are left after %d tasks: %q", len(left), tasks, left)
			}
			var wait []string
			for i, v := range strings.Fields(s.send(left...)) {
				if v != "settled" {
					wait = append(wait, left[i])
				}
			}
			left = wait
		}
		s.bulks = nil
		s.want(s.send(append(left, "new", "newer")...), "retry settled settled")
		s.want(strings.Join(s.bulks, ", "), "new newer, 17")
	}
}

// TestLoneFailureIsTriedAfterOthers, even if those go alone as well.
func TestLoneFailureIsTriedAfterOthers(t *testing.T) {
	t.Parallel()
	away := true
	s := newScripted(t, func(ids []string) (int, bool) { return http.StatusOK, away || ids[0] == "venom" })
	s.send("venom")
	s.send("a")
	s.send("b")
	s.bulks = nil
	s.send("venom", "a", "b") // and waits again
	away = false
	s.want(s.send("venom", "a", "b"), "retry settled settled")
}

// TestWhatWasNotSentIsNotJudged: the bulk before it failed.
func TestWhatWasNotSentIsNotJudged(t *testing.T) {
	t.Parallel()
	s := newScripted(t, spoils("venom", 0))
	s.send("venom")
	s.send("behind")
	s.indexer.failing.alone(change("behind"), false, 0, false)
	s.want(s.send("harmless", "venom", "behind"), "settled retry retry")
	s = newScripted(t, spoils("venom", http.StatusBadRequest))
	got := s.indexer.send(t.Context(), report.Cities, "cities", []prepared{
		{change: change("venom"), lines: []byte(`{"index":{"_id":"venom"}}` + "\n{}\n")}, {change: change("behind")}})
	if !got[0].byItself() || got[1].byItself() {
		t.Errorf("fail by themselves: %v, %v; want the one that was sent", got[0].byItself(), got[1].byItself())
	}
}

// dies makes Elasticsearch die and restart whenever it is sent the document.
func (s *scripted) dies(id string) {
	s.bulk = func(ids []string) (int, bool) {
		if slices.Contains(ids, id) {
			s.started++
			return 0, true
		}
		return http.StatusOK, false
	}
}

func TestDeadWhenElasticsearchDiesOfIt(t *testing.T) {
	t.Parallel()
	s := newScripted(t, nil)
	s.dies("venom")
	s.send("a", "venom", "b")
	for range 1 + blameAfter {
		s.want(s.send("venom", "c"), "retry settled")
	}
	died := s.started
	s.want(s.send("venom", "c"), "dead settled")
	s.want(s.send("venom"), "dead") // until the journal knows
	if s.started != died {
		t.Error("it was sent once more")
	}
}

// TestElasticsearchThatDiesBlamesNobody unless all evidence is against the document.
func TestElasticsearchThatDiesBlamesNobody(t *testing.T) {
	t.Parallel()
	always := func(s *scripted) { s.started++ }
	for name, c := range map[string]struct {
		between func(s *scripted)
		set     func(s *scripted)
	}{
		"it lives on: the answers are lost":     {between: func(*scripted) {}},
		"it does not tell its nodes":            {between: always, set: func(s *scripted) { s.nodes = http.StatusForbidden }},
		"a proxy answers in place of its nodes": {between: always, set: func(s *scripted) { s.nodes = http.StatusBadGateway }},
		"its index is not ready before it dies": {between: always, set: func(s *scripted) { s.index = "no_shard_available_action_exception" }},
		"now it dies, now the answer is lost":   {between: func(s *scripted) { s.started += len(s.bulks) / 2 % 2 }},
		"the document is another one each time": {between: func(s *scripted) { always(s); s.indexer.failing.forget(change("d").Key) }},
		"it is answered in between, if with an error": {between: func(s *scripted) {
			if always(s); len(s.bulks)%3 == 0 {
				s.indexer.failing.alone(change("d"), false, 0, false)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScripted(t, func([]string) (int, bool) { return 0, true })
			if c.set != nil {
				c.set(s)
			}
			for range 20 {
				s.want(s.send("d"), "retry")
				c.between(s)
			}
		})
	}
}

// TestOneOfSeveralUnderWayIsNotToBlame, but is sent as the only one from then on.
func TestOneOfSeveralUnderWayIsNotToBlame(t *testing.T) {
	t.Parallel()
	s := newScripted(t, nil)
	var alone []bool
	s.bulk = func([]string) (int, bool) {
		s.started++
		free := s.indexer.traffic.lock.TryRLock()
		if free {
			s.indexer.traffic.lock.RUnlock()
		}
		alone = append(alone, !free)
		if len(alone) <= 3 && free { // another bulk comes and goes meanwhile
			s.indexer.traffic.begin(false)()
		}
		return 0, true
	}
	for range 5 {
		s.want(s.send("d"), "retry")
	}
	s.want(s.send("d"), "dead") // the first two times do not count
	if got := fmt.Sprint(alone); got != "[false false true true true]" {
		t.Errorf("sent as the only one: %s", got)
	}
}

func TestTrafficOfOne(t *testing.T) {
	t.Parallel()
	var tr traffic
	first := tr.begin(false)
	second := tr.begin(false)
	if second() || first() {
		t.Error("one of two was the only one")
	}
	if !tr.begin(false)() || !tr.begin(true)() {
		t.Error("nothing else was under way")
	}
	only, begun := tr.begin(true), make(chan bool)
	go func() { begun <- true; begun <- tr.begin(false)() }()
	<-begun
	select {
	case <-begun:
		t.Fatal("another began beside the only one")
	default:
	}
	if !only() || !<-begun {
		t.Error("they were under way together")
	}
}
