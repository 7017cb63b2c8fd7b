package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// unmark removes from the indices of p which line of journals fills them, as in indices of
// another tool.
func (p *process) unmark() {
	p.t.Helper()
	for _, kind := range append(report.Kinds(), report.Probe) {
		index := p.prefix + string(kind) + "-v1"
		var found map[string]struct {
			Mappings struct {
				Meta map[string]map[string]any `json:"_meta"`
			} `json:"mappings"`
		}
		p.ask("GET", "/"+index+"/_mapping", "", &found)
		meta := found[index].Mappings.Meta
		if meta["riskdex"]["line"] == nil {
			p.t.Fatalf("%s has no line of journals: %v", index, meta)
		}
		delete(meta["riskdex"], "line")
		body, err := json.Marshal(map[string]any{"_meta": meta})
		require.NoError(p.t, err)
		p.ask("PUT", "/"+index+"/_mapping", string(body), nil)
	}
}

// TestIndexThatDoesNotSayWhoseItIs: a journal leaves the documents of such an index alone, says what
// it is, and does not take itself for set back.
func TestIndexThatDoesNotSayWhoseItIs(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.fill(40)
	p.conserved()
	p.kill()
	p.unmark()
	p.journal = filepath.Join(t.TempDir(), "riskdex.db")
	p.start()
	p.send("PUT", "/cities/1", cityBody(1, "of the new journal"))
	eventually(t, "status says what is in the index of the cities", func() bool { // the others may be looked at first
		detail := p.says(admin.TroubleAnotherJournal).Detail
		return strings.Contains(detail, "the index "+p.prefix+"cities-v1 has documents, 40 of them, and does not say which journal fills it")
	})
	if st := p.status(); st.Journal.Loss != nil || len(p.indexed(report.Cities)) != 40 {
		t.Errorf("a loss is told: %v; the index has %d documents", st.Journal.Loss, len(p.indexed(report.Cities)))
	}
	p.expect(exitFailed, "", words("rebuild --take-over --yes cities"), "has 1 documents", "has 40, and is left to that one")
	for i := range 41 {
		p.send("PUT", fmt.Sprint("/cities/", 100+i), cityBody(100+i, "of the new journal"))
	}
	p.expect(exitDone, "", words("rebuild --take-over --yes cities"))
	if got := p.indexed(report.Cities); len(got) != 42 || got["30"] != nil {
		t.Errorf("the index has %d documents, want those of the new journal", len(got))
	}
}

// TestEmptyJournalBeforeAFullIndex: status does not say that all is well. It says what to do, and
// doing that ends the trouble.
func TestEmptyJournalBeforeAFullIndex(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	early := filepath.Join(t.TempDir(), "early.db")
	p.expect(exitDone, "", append(words("backup --journal"), p.journal, early))
	p.fill(40)
	eventually(t, "all is well", func() bool { return p.status().Well })
	p.conserved()
	p.kill()

	right := p.journal
	p.journal = early
	p.start()
	trouble := p.says(admin.TroubleLacking)
	if trouble.Kind != report.Cities || trouble.Severity != admin.Critical || !strings.Contains(trouble.Detail, "Of cities the journal has 0 documents, and the index has 40") {
		t.Errorf("the trouble is %+v, want a critical one that the journal has 0 of 40 cities", trouble)
	}
	for _, remedy := range []string{"the right one", "newest backup", "rebuild --take-over", "deliver everything again"} {
		if !strings.Contains(trouble.Remedy, remedy) {
			t.Errorf("%q does not say %q", trouble.Remedy, remedy)
		}
	}
	p.expect(exitNegative, "", words("status"), "the journal has 0 documents")
	if n := p.metrics()[`riskdex_documents_unknown{kind="cities"}`]; n != 40 {
		t.Errorf("the metric is %v", n)
	}
	if !strings.Contains(p.log.String(), `level=WARN msg="the journal does not know most of what the index has`) {
		t.Error("the log does not warn of it")
	}

	p.conserved()
	p.kill()
	p.journal = right
	p.start()
	eventually(t, "all is well with the right journal", func() bool { return p.status().Well })
	p.conserved()
	p.kill()
	p.journal = early
	p.start()
	p.says(admin.TroubleLacking)
	for i := range 40 {
		p.send("PUT", fmt.Sprint("/cities/", i), cityBody(i, "again"))
	}
	p.expect(exitDone, "", words("journal acknowledge-loss --yes"))
	eventually(t, "all is well once all was delivered again", func() bool { return p.status().Well })
}
