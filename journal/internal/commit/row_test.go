package commit

import (
	"reflect"
	"strings"
	"testing"
	"time"

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
		"a dead letter is dropped":     {row(StateDead, report.Index), func(r *Row) { r.drop(now) }, func(r *Row) { r.State, r.EndedAt, r.Bytes, r.Written = StateDropped, now, 0, true }},
		"the origin stays what it was": {Row{Version: 7, Origin: -3, State: StateDone}, renumber, func(r *Row) { r.State, r.Version, r.CRC = StateResend, 9, 2 }},
	} {
		got, want := c.row, c.row
		c.rule(&got)
		if c.want(&want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for origin, want := range map[report.Version]report.Version{0: 7, 3: 3, -3: 3, BeforeAll: BeforeAll} {
		if got := (&Row{Version: 7, Origin: origin}).place(); got != want {
			t.Errorf("with the origin %d its place is %d, want %d", origin, got, want)
		}
	}
}

// TestHistoryRow: which form of a body the history keeps, and what it counts for.
func TestHistoryRow(t *testing.T) {
	key := report.Key{Kind: report.Advisories, ID: "1"}
	c := report.Change{Key: key, Version: 9, Op: report.Index, AcceptedAt: time.UnixMicro(2000), Body: []byte("new")}
	was := report.Change{Key: key, Version: 7, Op: report.Index, Code: "PAR", AcceptedAt: time.UnixMicro(1000)}
	row := func(body string) *Row {
		was.Body = []byte(body)
		return &Row{Key: key, Version: 7, Op: was.Op, State: StateDead, Code: was.Code, AcceptedAt: 1000, WaitedAt: -1500, EndedAt: 1600, CRC: int64(Checksum(was)), Bytes: int64(len(body))}
	}
	for body, want := range map[string]struct{ form, size int64 }{
		"":      {FormNone, HistoryRowBytes},
		"new":   {FormSame, HistoryRowBytes},
		"old":   {FormRaw, HistoryRowBytes + 3},
		"older": {FormRaw, HistoryRowBytes + 5},
	} {
		old := row(body)
		r := entryOf(c, report.Source{Call: "call"}, old)
		replaced := Replaced{Version: 7, Op: report.Index, Code: "PAR", At: 1000, Ended: -1500, State: StateDead, CRC: old.CRC, Bytes: old.Bytes, Form: want.form}
		if r.HistoryRow != (HistoryRow{key, 9, report.Index, 2000, 3, report.Source{Call: "call"}, replaced}) || r.Size() != want.size {
			t.Errorf("of %q the history keeps %+v, which counts for %d; want %+v", body, r, r.Size(), want)
		}
	}
	if r := entryOf(c, report.Source{}, nil); r.Old != (Replaced{}) || r.Size() != HistoryRowBytes {
		t.Errorf("of the first version the history keeps %+v", r)
	}
}

func TestFold(t *testing.T) {
	long := strings.Repeat("x", report.MaxIDBytes+1)
	for id, want := range map[string]string{"PaR": "par", "ÄB": "Äb", long[1:]: long[1:], long: ""} {
		if got := Fold(id); got != want {
			t.Errorf("%q is folded to %q, want %q", id, got, want)
		}
	}
}
