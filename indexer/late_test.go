package indexer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/report"
)

// wire records the bulks that pass, and checks that no older version of a document is
// sent after a newer one.
type wire struct {
	mu      sync.Mutex
	newest  map[string]int64 // by id
	bulks   [][]byte
	late    []string // older versions that were sent after a newer one
	changes int
}

func (w *wire) note(body []byte) (bulks int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bulks = append(w.bulks, body)
	lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	for i := 0; i < len(lines); i++ {
		var action struct {
			Index, Delete *struct {
				ID      string `json:"_id"`
				Version int64
			}
		}
		if err := json.Unmarshal(lines[i], &action); err != nil {
			panic(err)
		}
		of := action.Delete
		if action.Index != nil {
			of = action.Index
			i++ // the document
		}
		w.changes++
		if of.Version < w.newest[of.ID] {
			w.late = append(w.late, fmt.Sprintf("%s: %d after %d", of.ID, of.Version, w.newest[of.ID]))
		}
		w.newest[of.ID] = max(w.newest[of.ID], of.Version)
	}
	return len(w.bulks)
}

// testDeletedStaysDeleted creates and deletes thousands of documents while answers are
// lost and the server is restarted, which makes it forget the versions of deleted
// documents.
//
// The recorded bulks show that riskdex sends no older version. Requests that linger in
// the network are beyond its control: the second half of the test sends them again. The
// server refuses them while it remembers. After a restart it accepts them, until riskdex
// notices the restart and sends the tombstones again: they remove what came back, and
// keep out what comes later.
func testDeletedStaysDeleted(t *testing.T, s *ownServer) {
	documents := torture.Extent(1_000, 10_000)
	cfg := indexertest.Quick()
	cfg.BulkChanges = 500
	r := assembleOf(t, cfg, indexertest.Parts{Elasticsearch: s.as(admin, adminPassword)})
	w := &wire{newest: map[string]int64{}}
	lost := indexertest.Applied(func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) })
	r.Fail(func(rw http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
			if w.note(body)%5 == 0 {
				lost(rw, req, next)
				return
			}
		}
		next.ServeHTTP(rw, req)
	})
	r.Run()
	alias := r.Indices.Alias(report.Cities)
	inParts := func(of func(i int) report.Change) {
		for part := range 20 {
			var changes []report.Change
			for i := range documents / 20 {
				changes = append(changes, of(part*documents/20+i))
			}
			r.Append(changes...)
		}
	}

	create := func(i int) report.Change {
		return indexertest.Index(report.Cities, fmt.Sprint(i), `{"title":"`+strings.Repeat("old ", 10)+`"}`)
	}
	inParts(create)
	r.Drained()
	if n := s.counted(t, alias); n != documents {
		t.Fatalf("%d documents of %d", n, documents)
	}
	creates := slices.Clone(w.bulks)
	inParts(func(i int) report.Change { return indexertest.Delete(report.Cities, fmt.Sprint(i)) })
	r.Eventually("half of the deletes are settled", func() bool {
		return r.Stats().Kinds[report.Cities].Pending < documents/2
	})
	s.restart(t, true)
	r.Drained()
	if n := s.counted(t, alias); n != 0 {
		t.Errorf("%d documents are left", n)
	}
	linger := func() int {
		for _, body := range creates {
			req, err := http.NewRequest("POST", s.URL()+"/"+alias+"/_bulk", bytes.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-ndjson")
			req.SetBasicAuth(admin, adminPassword)
			if status, text := roundTrip(t, req); status != http.StatusOK {
				t.Fatalf("the late bulk was answered %d %s", status, text)
			}
		}
		return s.counted(t, alias)
	}
	// riskdex has noticed the restart, and has sent the tombstones again.
	if n := linger(); n != 0 {
		t.Errorf("%d documents came back though the server knew that they were deleted", n)
	}
	reminded := r.Metric("riskdex_bulk_documents", "kind", "cities")
	s.restart(t, false)
	back := linger()
	r.Eventually("what came back is gone again", func() bool { return s.counted(t, alias) == 0 })
	r.Drained()
	if r.Metric("riskdex_bulk_documents", "kind", "cities") == reminded {
		t.Error("no tombstone was sent again")
	}
	if n := linger(); n != 0 {
		t.Errorf("%d documents came back after their tombstones had been sent again", n)
	}
	r.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.late) > 0 {
		t.Errorf("%d changes were older than what had been sent, such as %s", len(w.late), w.late[0])
	}
	t.Logf("%d documents, %d changes in %d bulks, none late; of what lingered, the restarted server took %d", documents, w.changes, len(w.bulks), back)
}
