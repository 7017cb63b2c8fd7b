package commit

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"

	"riskdex/report"
)

// The history of a document is a row for each change of it that was accepted while history
// was on. A row has what the change replaced, as it was then, with its body: so the newest
// version is in the documents alone, and what is dropped from the beginning of the history
// takes nothing away that was valid later. Rows are written in the transaction of their
// changes. Afterwards one thing about them changes: a version that was replaced on its way to
// the index may reach it all the same.
//
// A version belongs to the row that was written with it if both were accepted at the same
// time: its number may have changed since (Renew, Pass).

// The forms of the body of what was replaced.
const (
	FormNone     = 0
	FormSame     = 1 // it is not kept, because the next version states the same
	FormRaw      = 2
	FormDeflated = 3
)

// HistoryRowBytes is what a row counts for besides the body that it keeps.
const HistoryRowBytes = 200

// Bounds of what is kept of a source, in bytes.
const (
	maxSender = 256
	maxCall   = 1 << 10
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
	At, Ended int64 // microseconds
	State     int64
	CRC       int64
	Bytes     int64 // of the record
	Form      int64
}

// HistoryColumns are the columns of a row, but for the body.
const HistoryColumns = `kind, id, version, op, at, bytes, sender, address, call, old_version, old_op, old_code, old_at, old_state, old_ended, old_crc, old_bytes, old_form`

// What riskdex did itself.
const (
	sourceRetry       = "retry of a refused delivery"
	sourceRetryDead   = "retry of a dead letter"
	sourceReplaceDead = "edit of a dead letter"
)

// sourceOf returns from whom a delivery came.
func sourceOf(d report.Delivery) report.Source {
	if d.RetryOf != 0 && d.Source == (report.Source{}) {
		return report.Source{Call: sourceRetry}
	}
	return d.Source
}

// keepPast adds to the history that c replaces a row.
func (tx *Transaction) keepPast(c *report.Change, old *Row) error {
	if !tx.KeepsHistory || c.Kind == report.Probe {
		return nil
	}
	by := tx.source
	by.Sender, by.Address, by.Call = clip(by.Sender, maxSender), clip(by.Address, maxSender), clip(by.Call, maxCall)
	if err := tx.Store.KeepPast(*c, by, old); err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	return nil
}

// noteReached notes that a version reached the index that is the newest no longer.
func (tx *Transaction) noteReached(s report.Settlement) error {
	if !tx.KeepsHistory || s.Outcome != report.Indexed && s.Outcome != report.Deleted {
		return nil
	}
	return tx.Store.NoteReached(s.Key, s.Version, tx.Now.UnixMicro())
}

var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // of the level
	}
	return w
}}

// Deflate returns a body in the form FormDeflated.
func Deflate(body []byte) ([]byte, error) {
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// inflate returns the body of what was replaced.
func inflate(old Replaced, body []byte) ([]byte, error) {
	if old.Form != FormDeflated {
		return body, nil
	}
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(body)), old.Bytes+1))
}
