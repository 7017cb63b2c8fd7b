package ledgertest_test

import (
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	"riskdex/internal/testkit/ledgertest"
	"riskdex/report"
)

// reporter collects the errors of a check.
type reporter struct {
	testing.TB
	said []string
}

func (r *reporter) Helper() {}

func (r *reporter) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func TestCheckFindsEveryDifference(t *testing.T) {
	key := func(id report.ID) report.Key { return report.Key{Kind: report.Cities, ID: id} }
	l := ledgertest.New()
	l.Note(key("corrected"), 1)
	l.Note(key("corrected"), 2)
	l.Note(key("deleted"), 1)
	l.Note(key("deleted"), 0)
	right := map[report.Key]int{key("corrected"): 2}
	for name, c := range map[string]struct {
		spoil func(found map[report.Key]int)
		want  int
	}{
		"as acknowledged": {func(map[report.Key]int) {}, 0},
		"missing":         {func(f map[report.Key]int) { delete(f, key("corrected")) }, 1},
		"old":             {func(f map[report.Key]int) { f[key("corrected")] = 1 }, 1},
		"back":            {func(f map[report.Key]int) { f[key("deleted")] = 1 }, 1},
		"never delivered": {func(f map[report.Key]int) { f[key("unknown")] = 3 }, 1},
	} {
		found := maps.Clone(right)
		c.spoil(found)
		r := &reporter{TB: t}
		if l.Check(r, found); len(r.said) != c.want {
			t.Errorf("%s: the errors are %q", name, r.said)
		}
	}
}

func TestLoadNotesWhatWasDelivered(t *testing.T) {
	l := ledgertest.New()
	var delivered atomic.Int64
	enough := make(chan struct{})
	stop := l.Load(3, func(report.Key, int) bool {
		if delivered.Add(1) == 500 {
			close(enough)
		}
		return true
	})
	<-enough
	stop()
	stop()
	if n := l.Acknowledged(); n != delivered.Load() {
		t.Errorf("%d noted, %d delivered", n, delivered.Load())
	}
	stop = l.Load(1, func(report.Key, int) bool { return false })
	stop()
	if n := l.Acknowledged(); n != delivered.Load() {
		t.Errorf("what was not delivered is noted: %d, %d delivered", n, delivered.Load())
	}
}
