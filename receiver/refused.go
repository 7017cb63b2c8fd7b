package receiver

import (
	"fmt"
	"slices"
	"strings"

	"riskdex/report"
)

const (
	// maxListed bounds the refusals that an answer lists, beside their total.
	maxListed = 100
	// maxLogged bounds the positions in a log line.
	maxLogged = 5
	// maxRefusals is how many refusals of one delivery the journal keeps.
	maxRefusals = 1000
)

// refusals are what was refused of one delivery: the first records, and how many there are by
// reason. A small body may have a hundred thousand.
type refusals struct {
	first  []report.Refusal
	counts map[string]int // by reason
	total  int
}

func (l *refusals) add(refusal report.Refusal) {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[refusal.Reason]++
	l.total++
	if len(l.first) < maxRefusals {
		l.first = append(l.first, refusal)
	}
}

// more returns how many are counted and not kept.
func (l *refusals) more() int { return l.total - len(l.first) }

// listed returns the first refusals for an answer.
func (l *refusals) listed() []refused {
	list := make([]refused, 0, min(len(l.first), maxListed))
	for _, refusal := range l.first[:cap(list)] {
		answer := refused{Position: refusal.Position, Reason: refusal.Reason, Detail: refusal.Detail}
		if refusal.ID != "" {
			id := shortened(refusal.ID)
			answer.ID = &id
		}
		list = append(list, answer)
	}
	return list
}

// logged returns the attributes of their one log line: the first refusal, and how many there
// are, why and where.
func (l *refusals) logged() []any {
	first := l.first[0]
	var attributes []any
	if first.Position >= 0 { // otherwise it is all of the delivery
		attributes = append(attributes, "position", first.Position)
	}
	attributes = append(attributes, "id", shortened(first.ID), "reason", first.Reason, "detail", first.Detail)
	if l.total == 1 {
		return attributes
	}
	var reasons []string
	for reason, n := range l.counts {
		reasons = append(reasons, fmt.Sprintf("%s %d", reason, n))
	}
	slices.Sort(reasons)
	var positions []int
	for _, refusal := range l.first[:min(len(l.first), maxLogged)] {
		positions = append(positions, refusal.Position)
	}
	return append(attributes, "records", l.total, "reasons", strings.Join(reasons, ", "), "first_positions", positions)
}
