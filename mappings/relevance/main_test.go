// Package relevance measures how well the search finds what a traveller means. It puts the
// sample feed, in its final state, into a real Elasticsearch, asks it the questions in
// queries.tsv, and compares the answers with what the feed says about itself. queries.tsv
// explains how a judgement is written.
package relevance

import (
	"os"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/relevancetest"
	"riskdex/mappings"
)

func TestMain(m *testing.M) { os.Exit(elastictest.Main(m)) }

func newIndex(t testing.TB) *relevancetest.Index {
	t.Helper()
	set, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return relevancetest.NewIndex(t, set)
}
