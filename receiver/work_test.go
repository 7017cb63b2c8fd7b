package receiver

import (
	"fmt"
	"strings"
	"testing"
)

// TestWorkIsBounded: what is made for a payload grows with its size, also where it is deep. Allocations stand
// for the work, as they are the same in each run.
func TestWorkIsBounded(t *testing.T) {
	s := splitterForTest(t)
	for name, body := range map[string]func(n int) string{
		"by key, deep": func(n int) string { return strings.Repeat(`{"cities":{"a1":`, n) + `{"t":1}` + strings.Repeat(`}}`, n) },
		"by key, beside": func(n int) string {
			return strings.Repeat(`{"a1":{"s":1},"a2":`, n) + `{"t":1}` + strings.Repeat(`}`, n)
		},
		"many lists": func(n int) string {
			var all []string
			for i := range n {
				all = append(all, fmt.Sprintf(`"k%d":[{"a":"FR","b":%d},{"a":"GB"},{"a":"PE"}]`, i, i))
			}
			return "{" + strings.Join(all, ",") + "}"
		},
		"lists of a list": func(n int) string { return strings.Repeat(`[`, n) + `{"t":1}` + strings.Repeat(`]`, n) },
		"envelopes": func(n int) string {
			return "[" + strings.Repeat(`{"cities":{"a1":{"t":1},"a2":{"t":2}},"zz":[{"id":1}]},`, n) + `{"id":1}]`
		},
	} {
		work := func(n int) float64 {
			text := []byte(body(n))
			return testing.AllocsPerRun(1, func() {
				for r := range s.list(text) {
					_ = s.whyNotOpened(r)
				}
				s.surveyOf(s.list(text))
			})
		}
		if small, large := work(60), work(240); large > 6*small {
			t.Errorf("%s: four times the size is %.0f times the work", name, large/small)
		}
	}
}
