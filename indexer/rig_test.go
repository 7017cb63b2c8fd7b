package indexer_test

import (
	"os"
	"testing"

	"riskdex/indexer"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	os.Exit(postgrestest.Main(func() int { return elastictest.Main(m) }))
}

// rig adds what only the indexer's own tests need.
type rig struct{ *indexertest.Rig }

func start(t *testing.T, cfg indexer.Config) *rig {
	t.Helper()
	return &rig{indexertest.Start(t, cfg)}
}

func assemble(t *testing.T, cfg indexer.Config) *rig {
	t.Helper()
	return &rig{indexertest.Assemble(t, cfg)}
}

func assembleOf(t *testing.T, cfg indexer.Config, p indexertest.Parts) *rig {
	t.Helper()
	return &rig{indexertest.AssembleOf(t, cfg, p)}
}
