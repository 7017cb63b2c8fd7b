package indexer_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/report"
)

// revived is a server for one test that is restarted whenever it ends, as systemd would
// do.
type revived struct {
	url    string
	deaths atomic.Int64
	server atomic.Pointer[elasticserver.Server]
}

func startRevived(t *testing.T, o elasticserver.Options) *revived {
	t.Helper()
	o.Home, o.Heap, o.FastStart = elastictest.Home(t), "256m", true // a small heap is full sooner
	server, err := elasticserver.Start(t.Context(), o)
	require.NoError(t, err)
	o.Port = server.Port()
	r := &revived{url: server.URL()}
	r.server.Store(server)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				_ = server.Stop()
				return
			case <-server.Done():
			}
			r.deaths.Add(1)
			next, err := elasticserver.Start(ctx, o)
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("start it again: %v", err)
				}
				return
			}
			server = next
			r.server.Store(next)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return r
}

// deadly is a mapping without limits: many values of these fields take far more memory
// than their size in bytes.
const deadly = `{"settings": {"index": {"number_of_shards": 1, "number_of_replicas": 0}},
"mappings": {"dynamic": false, "properties": {"words": {"type": "text", "fields": {
	"a": {"type": "keyword"}, "b": {"type": "completion"}, "c": {"type": "text"}, "d": {"type": "text", "term_vector": "with_positions_offsets"}}}}}}`

// TestDocumentThatKillsElasticsearch: one document makes a real server run out of memory
// after every restart, until the document is a dead letter. Two kinds are sent at once.
func TestDocumentThatKillsElasticsearch(t *testing.T) {
	t.Parallel()
	server := startRevived(t, elasticserver.Options{})
	set := indexertest.SetWith(t, deadly)
	cfg := indexertest.Quick()
	r := assembleOf(t, cfg, indexertest.Parts{Elasticsearch: server.url, Set: set, Documents: indexertest.AsDelivered{Set: set}})
	r.Run()
	r.Append(indexertest.Many(report.Cities, 300, "before")...)
	r.Append(indexertest.Many(report.Advisories, 300, "before")...)
	r.Drained()
	body := `{"words":["w` + strings.Repeat(`","w`, 3_000_000) + `"]}`
	r.Append(indexertest.Many(report.Cities, 40, "during")...)
	r.Append(indexertest.Index(report.Cities, "venom", body))
	r.Append(indexertest.Many(report.Cities, 200, "during")[40:]...)
	r.Append(indexertest.Many(report.Advisories, 200, "during")...)
	r.Within(15*time.Minute, "it is a dead letter", func() bool { return r.Stats().Kinds[report.Cities].DeadLetters == 1 })
	died := server.deaths.Load()
	t.Logf("Elasticsearch died %d times", died)
	r.Append(indexertest.Many(report.Cities, 100, "after")...)
	r.Drained()
	r.WantCities(300, 1)
	if n := r.Stats().Kinds[report.Advisories].DeadLetters; n != 0 || r.Count(report.Advisories) != 300 {
		t.Errorf("%d dead letters among advisories", n)
	}
	letter, err := r.Journal.DeadLetter(t.Context(), report.Key{Kind: report.Cities, ID: "venom"})
	require.NoError(t, err)
	if letter.ErrorType != "riskdex_elasticsearch_died" || !strings.Contains(letter.Reason, "died 3 times") {
		t.Errorf("%s: %s", letter.ErrorType, letter.Reason)
	}
	if n := server.deaths.Load(); n != died || n > 6 {
		t.Errorf("Elasticsearch died %d times, %d of them before the dead letter; want 6 at most", n, died)
	}
}

// TestKilledElasticsearchBlamesNobody: the server is killed and restarted repeatedly
// while a bulk is under way, preferably a bulk of one document.
func TestKilledElasticsearchBlamesNobody(t *testing.T) {
	t.Parallel()
	server := startRevived(t, elasticserver.Options{})
	r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Elasticsearch: server.url})
	r.Run()
	r.Append(indexertest.Many(report.Cities, 50, "before")...)
	r.Drained()
	kills := int64(torture.Extent(5, 40))
	var killed atomic.Int64
	for round := int64(1); round <= kills; round++ {
		large := strings.Repeat("a document takes a while ", 20_000)
		r.Fail(refuseIf(func(body []byte) bool {
			single := bytes.Count(body, []byte(`"version_type"`)) == 1
			return (single || killed.Load() == 0) && killed.CompareAndSwap(round-1, round)
		}, func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			go func() { // again, if the restart of the server that already answers is not known yet
				for server.deaths.Load() < round {
					server.server.Load().Kill()
					time.Sleep(10 * time.Millisecond)
				}
			}()
			next.ServeHTTP(w, req)
			panic(http.ErrAbortHandler) // whatever the result
		}))
		r.Append(indexertest.Index(report.Cities, "7", `{"text":"`+large+`"}`), indexertest.Index(report.Advisories, "7", `{"text":"`+large+`"}`))
		r.Within(2*time.Minute, "it is killed and started again", func() bool { return server.deaths.Load() == round && killed.Load() == round })
	}
	r.Heal()
	r.Within(2*time.Minute, "nothing is pending", func() bool {
		s := r.Stats()
		return s.Kinds[report.Cities].Pending+s.Kinds[report.Advisories].Pending == 0
	})
	r.WantCities(50, 0)
	if n := r.Stats().Kinds[report.Advisories].DeadLetters; n != 0 {
		t.Errorf("%d dead letters among advisories", n)
	}
}
