package indexer_test

import (
	"net/http"
	"testing"

	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// TestNoChangesAreToldBeforeTheJournalIsCompared: a journal that was set back shows only then that it
// was. A cluster that does not answer cannot show it, and keeps nobody waiting.
func TestNoChangesAreToldBeforeTheJournalIsCompared(t *testing.T) {
	for name, away := range map[string]bool{"the cluster answers": false, "the cluster is away": true} {
		t.Run(name, func(t *testing.T) {
			r := assemble(t, indexertest.Quick())
			if away {
				r.Fail(indexertest.AnswerWith(http.StatusServiceUnavailable, `{"error":{"type":"t","reason":"r"},"status":503}`))
			}
			select {
			case <-r.Indexer.Compared():
				t.Error("the journal was compared before anything was asked")
			default:
			}
			r.Run()
			<-r.Indexer.Compared()
			if away {
				r.Heal()
			}
			r.Append(indexertest.Index(report.Cities, "1", "{}"))
			r.Drained(report.Cities)
		})
	}
}
