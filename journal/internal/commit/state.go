package commit

import (
	"fmt"
	"strconv"
	"strings"

	"riskdex/report"
)

// States of a document. SQLite stores the numbers 0 and 1 in no byte and these in
// one, so that a change of state overwrites the record where it is.
const (
	StatePending = 2
	StateDone    = 3 // indexed, deleted or superseded
	StateDead    = 4
	StateResend  = 5
	StateDropped = 6 // a dead letter that was given up: it has no body
)

// Waits reports whether a document in a state is to be sent.
func Waits(state int64) bool { return state == StatePending || state == StateResend }

// StateName returns the word for a state. A damaged one is called dead, which
// promises least.
func StateName(state int64) report.State {
	switch state {
	case StatePending:
		return report.StatePending
	case StateDone:
		return report.StateSettled
	case StateResend:
		return report.StateResending
	case StateDropped:
		return report.StateDropped
	}
	return report.StateDead
}

// SQL returns a statement in which states have names: {pending}, {done}, {dead}, {resend} and
// {dropped} become their numbers. {waits} is [Waits] of a row, and {has code} its [Row.HasCode]. What only PostgreSQL needs becomes nothing: {lock} waits for rows in the
// order of their ids, {skip locked} leaves out those that another process has locked, and {and unclaimed}
// those that are claimed.
func SQL(statement string) string { return names.Replace(statement) }

var names = strings.NewReplacer(
	"{pending}", strconv.Itoa(StatePending), "{done}", strconv.Itoa(StateDone), "{dead}", strconv.Itoa(StateDead),
	"{resend}", strconv.Itoa(StateResend), "{dropped}", strconv.Itoa(StateDropped), "{waits}", fmt.Sprintf("state IN (%d, %d)", StatePending, StateResend), "{has code}", fmt.Sprintf("code <> '' AND kept <> %d", lostCode),
	"{lock}", "", "{skip locked}", "", "{and unclaimed}", "",
)
