package metricstest_test

import (
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/metricstest"
	"riskdex/report"
)

// scrape returns samples with n+2 accepted changes of cities, and 5 that are in their places.
func scrape(t *testing.T, n string) metricstest.Samples {
	t.Helper()
	text := "# HELP riskdex_x a b 5\nriskdex_changes_accepted_total{kind=\"cities\",op=\"delete\"} 2\n" +
		`riskdex_changes_accepted_total{kind="cities",op="index"} ` + n + "\n"
	for _, kind := range report.AllKinds() {
		one := "0"
		if kind == report.Cities {
			one = "1"
		} else {
			text += `riskdex_changes_accepted_total{kind="` + string(kind) + "\",op=\"index\"} 0\n"
		}
		for _, outcome := range report.Outcomes() {
			text += `riskdex_changes_settled_total{kind="` + string(kind) + `",outcome="` + string(outcome) + `"} ` + one + "\n"
		}
		text += `riskdex_changes_pending{kind="` + string(kind) + `"} ` + one + "\n"
	}
	s, err := metricstest.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConserved(t *testing.T) {
	if err := scrape(t, "3").Conserved(); err != nil {
		t.Error(err)
	}
	for _, n := range []string{"2", "4"} {
		if err := scrape(t, n).Conserved(); err == nil || !strings.Contains(err.Error(), "cities: ") {
			t.Errorf("%s and 2 accepted, 5 in their places: %v", n, err)
		}
	}
	whole := scrape(t, "3")
	for series := range whole {
		lacking := scrape(t, "3")
		delete(lacking, series)
		if err := lacking.Conserved(); err == nil {
			t.Errorf("without %s the sums agree", series)
		}
	}
}

func TestBorn(t *testing.T) {
	before, after := scrape(t, "3"), scrape(t, "9")
	if born := after.Born(before); len(born) > 0 {
		t.Errorf("new series without a change: %v", born)
	}
	after[`riskdex_b{x="y"}`], after["riskdex_a"], after["go_threads"] = 1, 0, 1
	if born := after.Born(before); !slices.Equal(born, []string{"riskdex_a", `riskdex_b{x="y"}`}) {
		t.Errorf("new series: %v", born)
	}
}

func TestWhatIsNoMetric(t *testing.T) {
	if _, err := metricstest.Read(strings.NewReader("riskdex_x much\n")); err == nil || !strings.Contains(err.Error(), "riskdex_x much") {
		t.Errorf("got %v", err)
	}
}
