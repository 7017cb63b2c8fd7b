package probe_test

import (
	"os"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
)

func TestMain(m *testing.M) { os.Exit(elastictest.Main(m)) }
