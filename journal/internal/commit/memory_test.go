package commit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// memory is a Store of documents in a map, so that rules are tested without a database. It keeps no
// refusals, receipts or loss.
type memory struct {
	Store // nil: what a test must not need
	rows  map[report.Key]Row
	past  []Entry
	last  report.Version
	loads int
	fails error // of Load
}

func (m *memory) NextVersion(after report.Version) (report.Version, error) {
	m.last = max(m.last+1, after+1)
	return m.last, nil
}

func (m *memory) Load(keys []report.Key) (found []*Row, err error) {
	m.loads++
	if m.fails != nil {
		return nil, m.fails
	}
	for _, k := range keys {
		if r, ok := m.rows[k]; ok {
			found = append(found, &r)
		}
	}
	return found, nil
}

func (m *memory) Codes(codes []string, f func(report.ID, string, report.Op)) error {
	for _, r := range m.rows {
		if r.HasCode() && slices.Contains(codes, r.Code) {
			f(r.ID, r.Code, r.Op)
		}
	}
	return nil
}

func (m *memory) Flush(w Writes) error {
	for _, e := range w.Past {
		m.past = append(m.past, *e)
	}
	for _, r := range w.Rows {
		m.rows[r.Key] = *r
	}
	return nil
}

func (m *memory) EndClaimed(report.Key, Claim, int64) (bool, error) { return false, nil }
func (m *memory) Unclaim(Settled, *Row) bool                        { return false }
func (m *memory) Query(func(func(...any) error) error, string, ...any) error {
	return nil
}

// do carries out a rule in a transaction of its own, at a time.
func (m *memory) do(t *testing.T, at int64, l *Ledger, rule func(*Transaction) error) {
	t.Helper()
	tx := NewTransaction(m, time.UnixMicro(at), l)
	tx.Growth = newGrowth(journal.Options{HistoryMaxBytes: 1 << 20})
	if err := errors.Join(rule(tx), tx.Flush()); err != nil {
		t.Fatal(err)
	}
}

// TestRulesInMemory: a document is delivered, settled, sent again, refused by Elasticsearch, retried and
// dropped, and a city that was known by its code alone is adopted.
func TestRulesInMemory(t *testing.T) {
	m, l := &memory{rows: map[report.Key]Row{}, last: 10}, &Ledger{Totals: map[report.Kind]Totals{}}
	key := report.Key{Kind: report.Advisories, ID: "1"}
	deliver := func(list ...report.Change) func(*Transaction) error {
		return func(tx *Transaction) error {
			_, err := tx.Deliver(report.Delivery{Changes: list}, journal.Options{})
			return err
		}
	}
	settle := func(o report.Outcome) func(*Transaction) error {
		return func(tx *Transaction) error {
			return tx.Settle([]report.Settlement{{Key: key, Version: m.rows[key].Version, Outcome: o, ErrorType: "type", Reason: strings.Repeat("x", 2*maxReason)}}, make([]Claim, 1))
		}
	}
	content := func(rule changer) func(*Transaction) error {
		return func(tx *Transaction) error {
			r := m.rows[key]
			c := Content{report.Change{Key: key, Version: r.Version, Op: r.Op, AcceptedAt: FromMicro(r.AcceptedAt), Body: []byte("{}")}, true}
			return (&ForEach{List: []Content{c}, Change: rule}).Execute(tx)
		}
	}
	for i, step := range []struct {
		rule  func(*Transaction) error
		state int64
		ended int64 // by the time of the step
	}{
		{deliver(report.Change{Key: key, Op: report.Index, Body: []byte("{}")}), StatePending, 100},
		{settle(report.Indexed), StateDone, 101},
		{content((*Transaction).Reissue), StateResend, 101},
		{settle(report.Indexed), StateDone, 101},
		{content((*Transaction).Reissue), StateResend, 101},
		{settle(report.Dead), StateDead, 105},
		{content((*Transaction).RetryDead), StatePending, 106},
		{settle(report.Dead), StateDead, 107},
		{content((*Transaction).dropDead), StateDropped, 108},
	} {
		m.do(t, int64(100+i), l, step.rule)
		if r := m.rows[key]; r.State != step.state || r.EndedAt != step.ended || len(r.Reason) > maxReason {
			t.Errorf("after step %d it is %+v", i, r)
		}
	}
	if len(m.past) != 2 || m.past[1].Old.State != StateDead || m.past[1].Old.Ended != -101 || m.past[1].Old.Form != FormSame {
		t.Errorf("the history is %+v", m.past)
	}
	if got, want := l.Totals[key.Kind], (Totals{Indexes: 2, Indexed: 1, Died: 1, History: 2, HistoryBytes: 2 * HistoryRowBytes, Bytes: DocumentBytes}); got != want {
		t.Errorf("the totals are %+v, want %+v", got, want)
	}

	city := func(id, own report.ID) report.Change {
		return report.Change{Key: report.Key{Kind: report.Cities, ID: id}, OwnID: own, Code: "PAR", Op: report.Index, Body: []byte("{}")}
	}
	before := m.loads
	m.do(t, 200, l, deliver(city("PAR", "")))
	m.do(t, 201, l, deliver(city("PAR", "130")))
	old, now := m.rows[report.Key{Kind: report.Cities, ID: "PAR"}], m.rows[report.Key{Kind: report.Cities, ID: "130"}]
	if old.Op != report.Delete || now.Op != report.Index || now.Code != "PAR" || now.CodeOnly {
		t.Errorf("adopted, the city is %+v, and was %+v", now, old)
	}
	if n := m.loads - before; n != 3 {
		t.Errorf("%d documents were looked up, want each once in a transaction", n)
	}
}

// TestNothingIsWrittenAfterALookupFailed: the database may have ended the transaction.
func TestNothingIsWrittenAfterALookupFailed(t *testing.T) {
	m := &memory{fails: errors.New("the disk cannot be read")}
	keys := []report.Key{{Kind: report.Advisories, ID: "1"}, {Kind: report.Advisories, ID: "2"}, {Kind: report.Advisories, ID: "3"}}
	tx := NewTransaction(m, time.UnixMicro(1), &Ledger{Totals: map[report.Kind]Totals{}})
	err := tx.Execute([]*Request{{Keys: keys, Task: task(func(*Transaction) error { t.Error("a request is carried out"); return nil })}})
	if !errors.Is(err, m.fails) {
		t.Errorf("error %v", err)
	}
}

// task is a Task that calls a function.
type task func(*Transaction) error

func (f task) Execute(tx *Transaction) error { return f(tx) }
