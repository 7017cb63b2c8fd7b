package verify_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// TestFieldsTellWhatDocumentsLack: from the first count after a delivery until the documents have what they
// lacked; what is not known stays, and of an index that another journal fills nothing is said.
func TestFieldsTellWhatDocumentsLack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		documents, levels, fails, foreign := 0, 0, false, false
		set := func(change func()) {
			mu.Lock()
			change()
			mu.Unlock()
			time.Sleep(verify.FieldsEvery)
			synctest.Wait()
		}
		fields := func(kind report.Kind) []report.FieldCount {
			if kind != report.Cities {
				return nil
			}
			return []report.FieldCount{{Field: "risk_level", Expected: 50}}
		}
		count := func(_ context.Context, kind report.Kind) (report.Fields, error) {
			mu.Lock()
			defer mu.Unlock()
			if fails {
				return report.Fields{}, errors.New("away")
			}
			now := report.Fields{Documents: documents, Fields: fields(kind)}
			if kind == report.Cities {
				now.Fields[0].Documents = levels
			}
			now.Judge()
			return now, nil
		}
		reg := prometheus.NewRegistry()
		f := verify.NewFields(verify.FieldsEvery, count, fields, func(report.Kind) bool { mu.Lock(); defer mu.Unlock(); return foreign }, reg, slog.New(slog.DiscardHandler))
		own := &indexertest.Rig{T: t, Registry: reg}
		is := func(when string, all, with, missing float64) {
			t.Helper()
			now := own.Metric("riskdex_field_missing", "kind", "cities", "field", "risk_level")
			if now != missing || own.Metric("riskdex_documents_with_field", "kind", "cities", "field", "risk_level") != with ||
				own.Metric("riskdex_documents_with_field", "kind", "cities", "field", "id") != all {
				t.Errorf("%s: %v, want %v of %v documents with a level", when, now, with, all)
			}
			if c, known := f.Counted()[report.Cities]; known && c.Fields[0].Missing != (missing == 1) {
				t.Errorf("%s: counted %+v", when, c)
			}
		}
		is("before the first count", 0, 0, 0)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go f.Run(ctx)
		set(func() { documents, levels = 4, 0 })
		is("few documents", 4, 0, 0)
		set(func() { documents, levels = 165, 82 })
		is("fewer than half", 165, 82, 1)
		set(func() { fails, levels = true, 165 })
		is("Elasticsearch is away", 165, 82, 1)
		set(func() { fails, foreign, levels = false, true, 3 })
		is("another journal fills the index", 165, 3, 0)
		set(func() { foreign, levels = false, 83 })
		is("taught", 165, 83, 0)
	})
}
