package indexer_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"riskdex/indexer"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// reshaped makes documents with one text replaced, as another mapping would.
type reshaped struct {
	indexer.Documents
	old, new string
}

func (d reshaped) AppendDocument(dst []byte, c report.Change) ([]byte, []string, error) {
	doc, unfit, err := d.Documents.AppendDocument(nil, c)
	return append(dst, bytes.Replace(doc, []byte(d.old), []byte(d.new), 1)...), unfit, err
}

const asByte, asKeyword, asBoolean = `"risk_level": {"type": "byte"}`, `"risk_level": {"type": "keyword"}`, `"risk_level": {"type": "boolean"}`

func TestChangedMappingIsRebuiltOnce(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 100)
	set := mapped(t, asByte, asKeyword)
	r.restart(rebuilding(), set, nil)
	r.reaches(report.PhaseDone)
	r.only(2)
	r.complete()
	if s := r.status(); s.Cause != report.CauseMapping {
		t.Errorf("the rebuild is %+v, want the changed mapping as its cause", s)
	}
	r.restart(rebuilding(), set, nil)
	r.Append(indexertest.Index(report.Cities, "later", `{"title":"later"}`))
	r.complete() // the index has been checked
	if all := r.Indexer.Rebuilds(); len(all) != 0 {
		t.Errorf("rebuilt again: %+v", all)
	}
	r.only(2)
}

// TestMappingThatRefusesIsNotSwappedIn: nothing changes for apps, and nothing becomes a
// dead letter, although the documents have the new form.
func TestMappingThatRefusesIsNotSwappedIn(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 100)
	set := mapped(t, asByte, asBoolean)
	// Neither index accepts risk_level as it is made now.
	r.restart(rebuilding(), set, reshaped{set, `"risk_level":3`, `"risk_level":"high"`})
	r.reaches(report.PhaseFailed)
	if s := r.status(); !strings.Contains(s.Reason, `"0"`) || !strings.Contains(s.Reason, "document_parsing_exception") {
		t.Errorf("the reason %q lacks what an operator needs", s.Reason)
	}
	r.only(1)
	r.complete()
	if r.Metric("riskdex_rebuilds_total", "outcome", "failed") != 1 {
		t.Error("not counted as failed")
	}
}

// TestChangeThatFitsOnlyTheNewMapping arrives while apps still search the old index. It
// must not become a dead letter.
func TestChangeThatFitsOnlyTheNewMapping(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 100)
	r.Stop()
	g := r.gate(2)
	set := mapped(t, asByte, asKeyword)
	r.restart(rebuilding(), set, reshaped{set, `"risk_level":2`, `"risk_level":"low"`})
	<-g.reached
	r.Append(indexertest.Index(report.Cities, "fits", `{"title":"fits","risk_level":2}`))
	close(g.open)
	r.reaches(report.PhaseDone)
	r.only(2)
	r.complete()
}

// TestPoisonDuringARebuildIsDeadAlone: a document that both indices refuse is no evidence
// against the new one.
func TestPoisonDuringARebuildIsDeadAlone(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 100)
	r.restart(rebuilding(), nil, reshaped{r.Indices.Set, `"risk_level":2`, `"risk_level":"low"`})
	r.Drained()
	g := r.half()
	r.Append(indexertest.Index(report.Cities, "poison", `{"title":"poison","risk_level":2}`))
	close(g.open)
	r.reaches(report.PhaseDone)
	r.Drained()
	r.WantCities(100, 1)
}

// TestWrongJournalEmptiesNoSearch: a new journal knows none of the documents in the
// index, and leaves it alone. On command it takes the index over, which does not lose
// what it has.
func TestWrongJournalEmptiesNoSearch(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 100)
	r.Stop()
	other := assemble(t, rebuilding())
	other.Indices.Prefix = r.Indices.Prefix
	other.restart(rebuilding(), mapped(t, asByte, asKeyword), nil)
	other.Append(indexertest.Many(report.Cities, 5, "text")...)
	other.Eventually("it leaves the index alone", func() bool { return other.waitsFor(report.Cities) == "another_journal" })
	if all := other.Indexer.Rebuilds(); len(all) > 0 {
		t.Errorf("a rebuild was begun: %+v", all)
	}
	require.NoError(t, other.Indexer.TakeOver(report.Cities))
	other.reaches(report.PhaseFailed)
	if s := other.status(); !strings.Contains(s.Reason, "100") || !strings.Contains(s.Reason, "journal") {
		t.Errorf("the reason %q lacks what an operator needs", s.Reason)
	}
	other.only(1)
	if n := other.Count(report.Cities); n != 100 {
		t.Errorf("%d documents, want 100", n)
	}
}

// TestUncertainLookupMakesNoDeadLetter: if a document is refused when it is sent again,
// whether the index already has it is asked until the answer is certain.
func TestUncertainLookupMakesNoDeadLetter(t *testing.T) {
	t.Parallel()
	r := filledRig(t, indexertest.Quick(), 10)
	for name, spoil := range map[string]func(*indexertest.Bites) indexertest.Fault{
		"not JSON": func(b *indexertest.Bites) indexertest.Fault {
			return b.Of(indexertest.AnswerWith(200, `<html>welcome</html>`))
		},
		"503":          func(b *indexertest.Bites) indexertest.Fault { return b.Of(indexertest.AnswerWith(503, ``)) },
		"no documents": func(b *indexertest.Bites) indexertest.Fault { return b.Of(indexertest.AnswerWith(200, `{"docs":[]}`)) },
		"documents of other names": func(b *indexertest.Bites) indexertest.Fault {
			return b.Replace(`","_id":"`, `","_id":"x`)
		},
		"documents that say nothing": func(b *indexertest.Bites) indexertest.Fault { return b.Replace(`"found":`, `"lost":`) },
	} {
		t.Run(name, func(t *testing.T) {
			r.Stop()
			_, err := report.ResendAll(t.Context(), r.Journal, report.Cities)
			require.NoError(t, err)
			var met indexertest.Bites
			spoilt := spoil(&met)
			r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if indexertest.IsLookup(req) && met.Load() < 3 {
					spoilt(w, req, next)
					return
				}
				next.ServeHTTP(w, req)
			})
			r.restart(indexertest.Quick(), nil, reshaped{r.Indices.Set, `"risk_level":3`, `"risk_level":"high"`})
			r.complete()
			r.Heal()
			if n := met.Load(); n != 3 {
				t.Errorf("the fault was applied %d times", n)
			}
		})
	}
}
