package visible_test

import (
	"os"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	os.Exit(postgrestest.Main(func() int { return elastictest.Main(m) }))
}
