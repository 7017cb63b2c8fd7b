package conformance

import (
	"fmt"
	"strings"

	"riskdex/report"
)

// describe writes the totals that are not zero, in a fixed order.
func describe(s report.KindStats) string {
	var parts []string
	add := func(name string, n uint64) {
		if n != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", name, n))
		}
	}
	for _, op := range report.Ops() {
		add(string(op), s.Accepted[op])
	}
	for _, o := range report.Outcomes() {
		add(string(o), s.Settled[o])
	}
	add("pending", uint64(s.Pending))
	add("resending", uint64(s.Resending))
	add("letters", uint64(s.DeadLetters))
	return strings.Join(parts, " ")
}

func sum[K comparable](m map[K]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}

func ids(changes []report.Change) []string {
	list := []string{}
	for _, c := range changes {
		list = append(list, string(c.ID))
	}
	return list
}
