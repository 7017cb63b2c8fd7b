package commit

import (
	"testing"

	"riskdex/report"
)

// TestRows: the rules on rows need no database.
func TestRows(t *testing.T) {
	const accepted, ended, now = 1000, 1500, 2000
	row := func(state int64, op report.Op) Row {
		return Row{Version: 7, Op: op, State: state, AcceptedAt: accepted, WaitedAt: accepted, EndedAt: ended, CRC: 1, Trace: "t", Bytes: 9}
	}
	end := func(r *Row) { r.end(now) }
	setAside := func(r *Row) { r.setAside(now, "type", "reason") }
	renumber := func(r *Row) { r.renumber(9, 2) }
	for name, c := range map[string]struct {
		row  Row
		rule func(*Row)
		want func(*Row) // what it changes
	}{
		"a pending one ends":          {row(StatePending, report.Index), end, func(r *Row) { r.State, r.EndedAt, r.Trace = StateDone, now, "" }},
		"one sent again ends":         {row(StateResend, report.Index), end, func(r *Row) { r.State, r.Trace = StateDone, "" }},
		"a delete that is sent again": {row(StateResend, report.Delete), end, func(r *Row) { r.State, r.EndedAt, r.Trace = StateDone, now, "" }},
		"a pending one is set aside": {row(StatePending, report.Index), setAside, func(r *Row) {
			r.State, r.EndedAt, r.Trace, r.ErrorType, r.Reason = StateDead, now, "", "type", "reason"
		}},
		"one sent again is set aside": {row(StateResend, report.Index), setAside, func(r *Row) {
			r.State, r.WaitedAt, r.EndedAt, r.Trace, r.ErrorType, r.Reason = StateDead, -ended, now, "", "type", "reason"
		}},
		"a settled one is renumbered":  {row(StateDone, report.Index), renumber, func(r *Row) { r.State, r.Version, r.Origin, r.CRC = StateResend, 9, 7, 2 }},
		"a pending one is renumbered":  {row(StatePending, report.Index), renumber, func(r *Row) { r.Version, r.Origin, r.CRC = 9, 7, 2 }},
		"a dead letter is dropped":     {row(StateDead, report.Index), func(r *Row) { r.drop(now) }, func(r *Row) { r.State, r.EndedAt, r.Bytes = StateDropped, now, 0 }},
		"the origin stays what it was": {Row{Version: 7, Origin: -3, State: StateDone}, renumber, func(r *Row) { r.State, r.Version, r.CRC = StateResend, 9, 2 }},
	} {
		got, want := c.row, c.row
		c.rule(&got)
		if c.want(&want); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for origin, want := range map[report.Version]report.Version{0: 7, 3: 3, -3: 3, BeforeAll: BeforeAll} {
		if got := (&Row{Version: 7, Origin: origin}).place(); got != want {
			t.Errorf("with the origin %d its place is %d, want %d", origin, got, want)
		}
	}
}
