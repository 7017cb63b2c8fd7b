package commit

import (
	"bytes"

	"riskdex/report"
)

// The history of a document has a row for each change that was accepted while history was on.
// The row keeps the version that the change replaced, with its body. So the newest version is in
// the table of documents alone, and dropping the oldest rows loses nothing that later ones need.
// A row is written in the transaction of its change. Only one thing in it changes later: a
// version that was replaced on its way to the index may still reach it.
//
// A version is matched to its row by the time of acceptance, since its number may have changed
// (Reissue, RaiseVersions).

// The forms of the body of what was replaced.
const (
	FormNone     = 0
	FormSame     = 1 // the body is not kept, because the next version has the same one
	FormRaw      = 2
	FormDeflated = 3
)

// HistoryRowBytes is the size that a row counts for in addition to its body.
const HistoryRowBytes = 200

// Bounds of what is kept of a source, in bytes.
const (
	maxSender  = 256
	maxCall    = 1 << 10
	maxRequest = 128
)

// HistoryRow is a row of the history, without the body.
type HistoryRow struct {
	Key     report.Key
	Version report.Version
	Op      report.Op
	At      int64 // microseconds
	Bytes   int64 // of the record
	Source  report.Source
	Old     Replaced
}

// Replaced is the version that a change replaced, as it was then.
type Replaced struct {
	Version   report.Version // 0 if there was none
	Op        report.Op
	Code      string
	At, Ended int64 // microseconds; Ended is negative as in OldEnded
	State     int64
	CRC       int64
	Bytes     int64 // of the record
	Form      int64
}

// OldEnded is Replaced.Ended of a row of documents. waiting_since is only for what is pending, but
// where a document that the index had is refused when it is sent again, it keeps since when, as a
// negative number.
const OldEnded = `CASE WHEN waiting_since < 0 THEN waiting_since ELSE ended_at END`

// What riskdex did itself.
const (
	sourceRetry       = "retry of a refused delivery"
	sourceRetryDead   = "retry of a dead letter"
	sourceReplaceDead = "edit of a dead letter"
)

// sourceOf returns the source of a delivery.
func sourceOf(d report.Delivery) report.Source {
	if d.RetryOf != 0 && d.Source == (report.Source{}) {
		return report.Source{Call: sourceRetry}
	}
	return d.Source
}

// Entry is a row of the history that is to be written.
type Entry struct {
	HistoryRow
	Of   *Row   // which has what is replaced in the table; nil if that is not there
	Body []byte // of what is replaced, without Of; with it, of what replaces it, to see that it is the same
}

// keepPast adds a row to the history, with the version that c replaces.
func (tx *Transaction) keepPast(c report.Change, old *Row) {
	if tx.Growth == nil || c.Kind == report.Probe {
		return
	}
	by := tx.source
	by.Sender, by.Address, by.Call, by.Request = clip(by.Sender, maxSender), clip(by.Address, maxSender), clip(by.Call, maxCall), clip(by.Request, maxRequest)
	e := entryOf(c, by, old)
	tx.writes.Past = append(tx.writes.Past, &e)
	tx.ledger.Update(c.Kind, func(t *Totals) {
		t.History++
		t.HistoryBytes += e.Size()
	})
	tx.Growth.grow(e.Size())
}

// entryOf returns the row of a change that replaces old, if that is not nil.
func entryOf(c report.Change, by report.Source, old *Row) Entry {
	r := Entry{HistoryRow: HistoryRow{Key: c.Key, Version: c.Version, Op: c.Op, At: c.AcceptedAt.UnixMicro(), Bytes: int64(len(c.Body)), Source: by}}
	if old == nil {
		return r
	}
	r.Old = Replaced{
		Version: old.Version, Op: old.Op, Code: old.Code, At: old.AcceptedAt, Ended: old.EndedAt,
		State: old.State, CRC: old.CRC, Bytes: old.Bytes, Form: FormRaw,
	}
	if old.WaitedAt < 0 {
		r.Old.Ended = old.WaitedAt
	}
	was := report.Change{Key: c.Key, Version: old.Version, Op: old.Op, Code: old.Code, AcceptedAt: FromMicro(old.AcceptedAt), Body: c.Body}
	if !old.Fresh && !old.Written {
		r.Of = old
	}
	switch {
	case old.Bytes == 0:
		r.Old.Form = FormNone
	case r.Of == nil && bytes.Equal(old.Body, c.Body):
		r.Old.Form = FormSame
	case r.Of == nil:
		r.Body = old.Body
	case old.Bytes == r.Bytes && old.CRC == int64(Checksum(was)):
		r.Old.Form, r.Body = FormSame, c.Body
	}
	return r
}

// Size is what a row counts for. What riskdex compresses later counts for less then.
func (r *HistoryRow) Size() int64 {
	if r.Old.Form == FormRaw {
		return HistoryRowBytes + r.Old.Bytes
	}
	return HistoryRowBytes
}

// noteReached notes that a version reached the index after it was replaced.
func (tx *Transaction) noteReached(s report.Settlement) {
	if tx.Growth != nil && reached(s) {
		tx.writes.Reached = append(tx.writes.Reached, Reached{s.Key, s.Version, tx.Now.UnixMicro()})
	}
}

func reached(s report.Settlement) bool {
	return s.Outcome == report.Indexed || s.Outcome == report.Deleted
}
