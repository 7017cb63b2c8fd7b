package sqlite

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// keepPast adds to the history. The rows go to the end of the table, and SQLite copies what was
// replaced by itself. Its body is compressed later (deflateHistory): that takes longer than
// all the rest.
func (s *store) keepPast(w commit.Writes) error {
	for _, e := range w.Past {
		if err := s.keepEntry(e); err != nil {
			return fmt.Errorf("keep the history: %w", err)
		}
	}
	for _, r := range w.Reached {
		if _, err := s.exec(`UPDATE history SET old_state = {done}, old_ended = ?4
			WHERE kind = ?1 AND id = ?2 AND version > ?3 AND old_version = ?3 AND old_state = {pending}`, string(r.Kind), string(r.ID), int64(r.Version), r.At); err != nil {
			return fmt.Errorf("note that %s %q reached the index: %w", r.Kind, r.ID, err)
		}
	}
	return nil
}

func (s *store) keepEntry(e *commit.Entry) error {
	if e.Of != nil {
		err := s.keepOf(e, append(keptOf(e).Values(), e.Of.Doc))
		if classify(err) != commit.FaultRequest {
			return err
		}
		s.count(e.Key.Kind, commit.HistoryRowBytes-e.Size()) // what it replaces is damaged
		e.Old, e.Body = commit.Replaced{}, nil
	}
	_, err := s.exec(keepRow, append(tables.PastFields(&e.HistoryRow).Values(), orNull(e.Body))...)
	return err
}

// keptOf are the fields that are not taken from documents.
func keptOf(e *commit.Entry) tables.Fields {
	f := tables.PastFields(&e.HistoryRow)
	return f[tables.KeyFields : len(f)-1]
}

// keepOf has SQLite copy the body of what is replaced. A body that seems to be the same may not be.
func (s *store) keepOf(e *commit.Entry, args []any) error {
	if e.Old.Form == commit.FormSame {
		var form int
		err := s.Query(func(scan func(...any) error) error { return scan(&form) }, keepSame, append([]any{e.Body, e.Body}, args...)...)
		if form == commit.FormRaw {
			s.count(e.Key.Kind, e.Old.Bytes)
		}
		return err
	}
	query := keepEmpty
	if e.Old.Form == commit.FormRaw {
		query = keepRaw
	}
	_, err := s.exec(query, args...)
	return err
}

// count corrects what the history counts for.
func (s *store) count(kind report.Kind, bytes int64) {
	s.ledger.Update(kind, func(t *commit.Totals) { t.HistoryBytes += bytes })
}

var pastFields = tables.PastFields(&commit.HistoryRow{})

var keepRow = `INSERT INTO history (` + pastFields.List("@") + `, old_body) VALUES (` + pastFields.List("?") + `, ?)`

// These keep what a document had, with its body in a form.
var (
	keepEmpty = keepQuery(fmt.Sprint(commit.FormNone), "NULL")
	keepRaw   = keepQuery(fmt.Sprint(commit.FormRaw), "body")
	keepSame  = keepQuery(fmt.Sprintf("CASE WHEN body = ? THEN %d ELSE %d END", commit.FormSame, commit.FormRaw), "CASE WHEN body <> ? THEN body END") + " RETURNING old_form"
)

// keepQuery takes the body alone from the table: the rest may have changed since in the same transaction.
func keepQuery(form, body string) string {
	kept := keptOf(&commit.Entry{})
	return fmt.Sprintf(`INSERT INTO history (old_form, old_body, %s, kind, id) SELECT %s, %s, %s, kind, id FROM documents WHERE doc = ?`, kept.List("@"), form, body, kept.List("?"))
}

// MayDropPast implements commit.Store.
func (s *store) MayDropPast() (bool, error) { return true, nil }

// deflated is a body that was compressed.
type deflated struct {
	version, had int64
	kind         report.Kind
	body         []byte
}

const (
	// deflateStep is how many bodies one transaction replaces by compressed ones, and
	// deflateBytes how many bytes of them are read for it.
	deflateStep  = commit.TombstoneStep
	deflateBytes = 4 << 20
)

// deflateHistory compresses the bodies that were added to the history since the last time, in
// steps between which deliveries are accepted.
func (j *Journal) deflateHistory(ctx context.Context) error {
	for {
		list, seen, err := j.nextToDeflate(ctx)
		if err != nil || seen == j.deflated.Load() {
			return err
		}
		if len(list) > 0 {
			if err := j.queue.Do(ctx, &commit.Request{Task: replaceBodies(list), Size: len(list), Quota: commit.DiskQuota}); err != nil {
				return fmt.Errorf("compress the history: %w", err)
			}
		}
		j.deflated.Store(seen)
		if err := commit.Sleep(ctx, commit.DropPause); err != nil {
			return err
		}
	}
}

// nextToDeflate compresses bodies after the last one that was looked at, and returns the one
// that was looked at last.
func (j *Journal) nextToDeflate(ctx context.Context) (list []deflated, seen int64, err error) {
	seen = j.deflated.Load()
	var d deflater
	err = j.read(func(e *engine) error {
		size := 0
		rows, err := e.readers.QueryContext(ctx, `SELECT version, kind, old_form, CASE WHEN old_form = ? THEN old_body END FROM history
			WHERE version > ? ORDER BY version LIMIT ?`, int64(commit.FormRaw), seen, deflateStep)
		err = tables.ForRows(rows, err, func(scan func(...any) error) error {
			var version, form tables.Int
			var kind tables.Text
			var body tables.Bytes
			if err := scan(&version, &kind, &form, &body); err != nil {
				return err
			}
			seen = int64(version)
			if form != commit.FormRaw || len(body) == 0 {
				return nil
			}
			small, err := d.deflate(body)
			if err == nil && len(small) < len(body) {
				list = append(list, deflated{seen, int64(len(body)), report.Kind(kind), small})
			}
			if size += len(body); err == nil && size > deflateBytes {
				err = commit.ErrEnough
			}
			return err
		})
		return err
	})
	if err != nil {
		err = fmt.Errorf("read the history to compress it: %w", err)
	}
	return list, seen, err
}

// deflater compresses bodies one after the other. It has no writer before the first, since that
// takes much memory and most runs find nothing to compress.
type deflater struct{ w *flate.Writer }

// deflate returns a body in the form commit.FormDeflated.
func (d *deflater) deflate(body []byte) (small []byte, err error) {
	if d.w == nil {
		if d.w, err = flate.NewWriter(nil, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	d.w.Reset(&out)
	_, err = d.w.Write(body)
	err = errors.Join(err, d.w.Close())
	return out.Bytes(), err
}

var deflatePast = fmt.Sprintf(`UPDATE history SET old_form = %d, old_body = ?2 WHERE version = ?1 AND old_form = %d`, commit.FormDeflated, commit.FormRaw)

// replaceBodies is the task that writes compressed bodies.
type replaceBodies []deflated

// Execute implements commit.Task.
func (list replaceBodies) Execute(tx *commit.Transaction) error {
	s := tx.Store.(*store)
	for _, d := range list {
		n, err := s.exec(deflatePast, d.version, d.body)
		if err != nil {
			return err
		}
		if n > 0 { // and it was not dropped
			s.count(d.kind, int64(len(d.body))-d.had)
		}
	}
	return nil
}
