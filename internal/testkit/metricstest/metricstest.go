// Package metricstest reads /metrics for tests, and checks what must always hold of it.
package metricstest

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"riskdex/report"
)

// Samples are the values of one scrape. The keys are name and labels as in the text format:
// `riskdex_changes_pending{kind="cities"}`.
type Samples map[string]float64

// Read reads the text format.
func Read(text io.Reader) (Samples, error) {
	all := Samples{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line := lines.Text()
		end := strings.LastIndexByte(line, ' ')
		if end < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		value, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("read the metrics: %q has no value: %w", line, err)
		}
		all[line[:end]] = value
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	return all, nil
}

// Sum adds up the series of a metric that have all of the labels, each written as
// in `kind="cities"`. It reports whether there is any.
func (s Samples) Sum(metric string, labels ...string) (sum float64, found bool) {
	for series, value := range s {
		name, rest, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		has := func(label string) bool { return slices.Contains(strings.Split(rest, ","), label) }
		if name == metric && !slices.ContainsFunc(labels, func(label string) bool { return !has(label) }) {
			sum, found = sum+value, true
		}
	}
	return sum, found
}

// Conserved returns an error unless, of every kind, each accepted change is in
// exactly one place: indexed, deleted, superseded, dead or pending.
func (s Samples) Conserved() error {
	for _, kind := range report.AllKinds() {
		ofKind := fmt.Sprintf("kind=%q", kind)
		accepted, is := s.Sum("riskdex_changes_accepted_total", ofKind)
		pending, isToo := s.Sum("riskdex_changes_pending", ofKind)
		if !is || !isToo {
			return fmt.Errorf("the journal's sums of %s are missing", kind)
		}
		placed, places := pending, fmt.Sprintf("%v pending", pending)
		for _, outcome := range report.Outcomes() {
			n, is := s.Sum("riskdex_changes_settled_total", ofKind, fmt.Sprintf("outcome=%q", outcome))
			if !is {
				return fmt.Errorf("nothing says how many changes of %s are %s", kind, outcome)
			}
			placed += n
			places += fmt.Sprintf(", %v %s", n, outcome)
		}
		if accepted != placed {
			return fmt.Errorf("%s: %v changes accepted, and in their places %v: %s", kind, accepted, placed, places)
		}
	}
	return nil
}

// Born returns riskdex's own series that are not in before, sorted. There should be none: a
// rate does not see the event with which a series first appears.
func (s Samples) Born(before Samples) []string {
	var born []string
	for series := range s {
		if _, was := before[series]; !was && strings.HasPrefix(series, "riskdex_") {
			born = append(born, series)
		}
	}
	slices.Sort(born)
	return born
}
