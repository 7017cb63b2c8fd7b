package transfer_test

import (
	"os"
	"testing"

	"riskdex/internal/testkit/postgres/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m.Run)) }
