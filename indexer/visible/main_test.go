package visible_test

import (
	"os"
	"testing"

	"riskdex/internal/elasticserver/elastictest"
	"riskdex/internal/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	os.Exit(postgrestest.Main(func() int { return elastictest.Main(m) }))
}
