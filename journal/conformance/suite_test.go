package conformance

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
)

// TestMain has the models follow fewer random histories than make torture, unless -rapid.checks
// says how many.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", strconv.Itoa(torture.Extent(30, 400))); err != nil {
		panic(err)
	}
	os.Exit(postgrestest.Main(m.Run))
}

func TestSQLite(t *testing.T) { testEngine(t, openSQLite) }

func TestPostgres(t *testing.T) { testEngine(t, openPostgres) }

// testEngine checks every promise of package journal against an engine.
func testEngine(t *testing.T, open opener) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"append", appendTests},
		{"identity", identityTests},
		{"claim", claimTests},
		{"settle", settleTests},
		{"resend", resendTests},
		{"renew", reissueTests},
		{"pass", raiseTests},
		{"entries", entryTests},
		{"records", recordTests},
		{"document", documentTests},
		{"feed", feedTests},
		{"deliveries by name", deliveredTests},
		{"dead letters", letterTests},
		{"retries of dead letters", letterEndTests},
		{"refusals", refusalTests},
		{"cleared refusals", clearTests},
		{"retries of refusals", retryTests},
		{"traces", traceTests},
		{"receipts", receiptTests},
		{"deleted documents", deletedTests},
		{"notes", noteTests},
		{"what was given out", givenTests},
		{"lifecycle", lifecycleTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) {
					h := newHarness(t, open, journal.Options{MaxRefusals: 5, MaxDeliveryRefusals: 5})
					c.run(t, h)
					h.conserved(t)
				})
			}
		})
	}
	t.Run("history gives way", func(t *testing.T) {
		h := newHarness(t, open, journal.Options{History: historyKept, MaxBytes: historyRoom})
		testHistoryRoom(t, h)
		h.conserved(t)
	})
	t.Run("history", func(t *testing.T) {
		for _, c := range historyTests {
			t.Run(c.name, func(t *testing.T) {
				h := newHarness(t, open, journal.Options{History: historyKept, HistoryMaxBytes: historyMaxBytes, KeepDeleted: historyKept / 2})
				c.run(t, h)
				h.conserved(t)
			})
		}
	})
	for name, run := range map[string]func(t *testing.T){
		"history is off":           func(t *testing.T) { testHistoryOff(t, open) },
		"refusals of one delivery": func(t *testing.T) { testRefusalsShare(t, open) },
		"concurrency":              func(t *testing.T) { testConcurrency(t, newHarness(t, open, journal.Options{})) },
		"model of the feed":        func(t *testing.T) { testFeedModel(t, open) },
		"model":                    func(t *testing.T) { testModel(t, open) },
	} {
		t.Run(name, run)
	}
}

// test is one promise.
type test struct {
	name string
	run  func(t *testing.T, h *harness)
}
