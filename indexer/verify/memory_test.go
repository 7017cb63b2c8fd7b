package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"riskdex/elastic"
	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestVerifyMemoryDoesNotGrow: memory does not grow with the number of documents.
// Journal and index are generated on the fly, so that only the verification needs memory;
// every third document is missing.
func TestVerifyMemoryDoesNotGrow(t *testing.T) {
	few, many := peak(t, 10_000), peak(t, 100_000)
	t.Logf("most in use: %d KiB for 10,000 documents, %d KiB for 100,000; %.1f bytes for each one more",
		few>>10, many>>10, float64(many-few)/90_000)
	if many > few+2<<20 { // 90,000 documents with 24 bytes each
		t.Errorf("memory grows with the number of documents")
	}
}

// peak returns the additional memory in use, in bytes, at the worst moment of a
// verification of n documents.
func peak(t *testing.T, n int) int64 {
	t.Helper()
	made := madeUp{n}
	client, err := elastic.NewClientOver(made, "http://elasticsearch")
	require.NoError(t, err)
	v, err := verify.New(verify.DefaultConfig(), made, made, client)
	require.NoError(t, err)
	before := inUse()
	most, pages, found := int64(0), 0, 0
	got, err := v.Verify(t.Context(), report.Cities, verify.Options{
		Found: func(report.VerifyFinding) { found++ },
		Progress: func(report.VerifyProgress) {
			if pages++; pages%10 == 0 {
				most = max(most, inUse()-before)
			}
		},
	})
	require.NoError(t, err)
	if want := (n + 2) / 3; got.Documents != n || got.Missing != want || got.Found() != want || found != want || got.Indexed != n-want {
		t.Errorf("%d documents, %d in the index, %d found, want %d", got.Documents, got.Indexed, got.Found(), want)
	}
	return most
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// madeUp is a journal of n settled documents, and an Elasticsearch that lacks every third
// of them.
type madeUp struct{ n int }

func (m madeUp) id(i int) report.ID { return report.ID(fmt.Sprintf("%07d", i)) }
func (m madeUp) entry(id report.ID) report.Entry {
	return report.Entry{Stamp: report.Stamp{Key: report.Key{Kind: report.Cities, ID: id}, Version: 7}, Op: report.Index, State: report.StateSettled}
}

func (m madeUp) has(id report.ID) bool {
	i, _ := strconv.Atoi(string(id))
	return i%3 != 0
}

func (m madeUp) Entries(_ context.Context, _ report.Kind, after report.ID, limit int) ([]report.Entry, error) {
	first := 0
	if after != "" {
		i, _ := strconv.Atoi(string(after))
		first = i + 1
	}
	var all []report.Entry
	for i := first; i < min(m.n, first+limit); i++ {
		all = append(all, m.entry(m.id(i)))
	}
	return all, nil
}

func (m madeUp) Lookup(_ context.Context, _ report.Kind, ids []report.ID) ([]report.Entry, error) {
	var all []report.Entry
	for _, id := range ids {
		all = append(all, m.entry(id))
	}
	return all, nil
}

func (m madeUp) Reissue(context.Context, []report.Stamp) (int, error) { panic("not asked for") }
func (m madeUp) Append(context.Context, report.Delivery) ([]report.Stamp, error) {
	panic("not asked for")
}
func (m madeUp) Alias(kind report.Kind) string                  { return string(kind) }
func (madeUp) CheckSearched(context.Context, report.Kind) error { return nil }

// RoundTrip answers as Elasticsearch would.
func (m madeUp) RoundTrip(req *http.Request) (*http.Response, error) {
	var asked struct {
		IDs   []report.ID `json:"ids"`
		After []int       `json:"search_after"`
		Size  int         `json:"size"`
	}
	if req.Body != nil {
		if err := json.NewDecoder(req.Body).Decode(&asked); err != nil && err != io.EOF {
			return nil, err
		}
	}
	var answer string
	const whole = `"_shards":{"total":1,"successful":1,"failed":0}`
	switch {
	case indexertest.IsLookup(req):
		answer = m.documents(asked.IDs)
	case strings.HasSuffix(req.URL.Path, "/_search"):
		first := 0
		if len(asked.After) > 0 {
			first = asked.After[0] + 1
		}
		answer = fmt.Sprintf(`{"timed_out":false,%s,"hits":{"total":{"value":%d,"relation":"eq"},"hits":[%s]}}`, whole, m.n-(m.n+2)/3, m.hits(first, asked.Size))
	default:
		answer = `{"id":"x",` + whole + `}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer)), Request: req,
		Header: http.Header{"X-Elastic-Product": {"Elasticsearch"}, "Content-Type": {"application/json"}},
	}, nil
}

func (m madeUp) documents(ids []report.ID) string {
	var docs bytes.Buffer
	for i, id := range ids {
		if i > 0 {
			docs.WriteByte(',')
		}
		if m.has(id) {
			fmt.Fprintf(&docs, `{"_index":"x","_id":%q,"_version":7,"found":true}`, id)
		} else {
			fmt.Fprintf(&docs, `{"_index":"x","_id":%q,"found":false}`, id)
		}
	}
	return `{"docs":[` + docs.String() + `]}`
}

func (m madeUp) hits(first, size int) string {
	var hits []string
	for i := first; i < m.n && len(hits) < size; i++ {
		if m.has(m.id(i)) {
			hits = append(hits, fmt.Sprintf(`{"_id":%q,"sort":[%d]}`, m.id(i), i))
		}
	}
	return strings.Join(hits, ",")
}

// forgetful is madeUp with tombstones only, which the journal forgets once they are listed.
type forgetful struct{ madeUp }

func (f forgetful) Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error) {
	all, err := f.madeUp.Entries(ctx, kind, after, limit)
	for i := range all {
		all[i].Op = report.Delete
	}
	return all, err
}

func (forgetful) Lookup(context.Context, report.Kind, []report.ID) ([]report.Entry, error) {
	return nil, nil
}

// TestVerifyNamesWhatTheJournalForgets: a tombstone that goes while its document is compared leaves
// a document that the journal does not know, and no nameless one.
func TestVerifyNamesWhatTheJournalForgets(t *testing.T) {
	made := forgetful{madeUp{30}}
	client, err := elastic.NewClientOver(made, "http://elasticsearch")
	require.NoError(t, err)
	v, err := verify.New(verify.DefaultConfig(), made, made, client)
	require.NoError(t, err)
	got, err := v.Verify(t.Context(), report.Cities, verify.Options{Found: func(f report.VerifyFinding) {
		if f.ID == "" || f.Problem != report.Foreign {
			t.Errorf("found %+v, want a document that the journal does not know", f)
		}
	}})
	require.NoError(t, err)
	if got.Found() != 20 || got.Unknown != 20 {
		t.Errorf("found %+v, want the 20 documents of the index", got)
	}
}

// TestVerifyManyDocuments compares with the real server, in pages of the usual size, and
// logs how long that takes.
func TestVerifyManyDocuments(t *testing.T) {
	const documents = 20_000
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, documents, "text")...)
	r.Drained()
	for _, id := range []string{"0", "9999", "19999"} {
		r.Change("DELETE", r.Path(id, ""), "")
	}
	started := time.Now()
	got, err := r.Verifier(verify.DefaultConfig()).Verify(t.Context(), report.Cities, verify.Options{})
	require.NoError(t, err)
	t.Logf("%.1f s for 100,000 documents", time.Since(started).Seconds()/documents*100_000)
	if got.Documents != documents || got.Indexed != documents-3 || got.Missing != 3 || got.Found() != 3 {
		t.Errorf("found %+v, want three documents missing", got)
	}
}

func (madeUp) LockVerify(context.Context, report.Kind) (func(), error) { return func() {}, nil }
