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

// KeepPast implements commit.Store. The row goes to the end of the table, and SQLite copies what was
// replaced by itself. Its body is compressed later (deflateHistory): that takes longer than
// all the rest.
func (s *store) KeepPast(c report.Change, by report.Source, old *commit.Row) (bytes int64, err error) {
	kept, err := s.keepPast(c, by, old)
	if classify(err) == commit.FaultRequest && old != nil { // what it replaces is damaged
		kept, err = s.keepPast(c, by, nil)
	}
	if err != nil {
		return 0, err
	}
	bytes = commit.HistoryRowBytes + kept
	t := s.ledger.Totals[c.Kind]
	t.History++
	t.HistoryBytes += bytes
	s.ledger.Totals[c.Kind] = t
	return bytes, nil
}

// keepPast returns the size of the body that it has kept.
func (s *store) keepPast(c report.Change, by report.Source, old *commit.Row) (kept int64, err error) {
	args := []any{int64(c.Version), string(c.Op), c.AcceptedAt.UnixMicro(), len(c.Body), by.Sender, by.Address, by.Call, by.Request}
	switch {
	case old == nil:
		return 0, s.exec(s.st.keepFirst, append(args, string(c.Kind), string(c.ID))...)
	case old.Bytes == 0:
		return 0, s.exec(s.st.keepEmpty, append(args, old.Doc)...)
	case old.Bytes != int64(len(c.Body)):
		return old.Bytes, s.exec(s.st.keepOther, append(args, old.Doc)...)
	}
	n, err := s.count(s.st.keepUnlessSame, append(args, old.Doc, c.Body)...)
	if n > 0 || err != nil {
		return old.Bytes, err
	}
	return 0, s.exec(s.st.keepSame, append(args, old.Doc)...)
}

const keepFirst = `INSERT INTO history (version, op, at, bytes, sender, address, call, request, kind, id,
	old_version, old_op, old_code, old_at, old_state, old_ended, old_crc, old_bytes, old_form)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', '', 0, 0, 0, 0, 0, 0)`

// keepQuery returns the statement that keeps what a document had, with a body in a form.
func keepQuery(form int, body, where string) string {
	return fmt.Sprintf(`INSERT INTO history (version, op, at, bytes, sender, address, call, request, kind, id,
		old_version, old_op, old_code, old_at, old_state, old_ended, old_crc, old_bytes, old_form, old_body)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, kind, id, version, op, code, accepted_at, state, %s, crc, coalesce(length(body), 0), %d, %s
		FROM documents WHERE doc = ?%s`, commit.OldEnded, form, body, where)
}

// NoteReached implements commit.Store.
func (s *store) NoteReached(k report.Key, v report.Version, at int64) error {
	return s.exec(s.st.noteReached, string(k.Kind), string(k.ID), int64(v), at)
}

// DropPast implements commit.Store.
func (s *store) DropPast(before, most, over int64, limit int) (n int, err error) {
	excess := -most
	for _, t := range s.ledger.Totals {
		excess += t.HistoryBytes
	}
	excess = max(excess, over)
	rows, err := s.st.oldestPast.QueryContext(s.ctx, limit)
	var last int64
	freed := map[report.Kind]commit.Totals{}
	if err := tables.ForRows(rows, err, func(scan func(...any) error) error {
		var version, at, size tables.Int
		var kind tables.Text
		if err := scan(&version, &kind, &at, &size); err != nil {
			return err
		}
		if int64(at) >= before && excess <= 0 {
			return errEnough
		}
		f := freed[report.Kind(kind)]
		f.History++
		f.HistoryBytes += int64(size) + commit.HistoryRowBytes
		freed[report.Kind(kind)] = f
		excess -= int64(size) + commit.HistoryRowBytes
		n, last = n+1, int64(version)
		return nil
	}); err != nil && !errors.Is(err, errEnough) {
		return 0, err
	}
	if n == 0 {
		return 0, nil
	}
	for k, f := range freed {
		t := s.ledger.Totals[k]
		t.History -= f.History
		t.HistoryBytes -= f.HistoryBytes
		t.HistoryDropped += f.History
		s.ledger.Totals[k] = t
	}
	return n, s.exec(s.st.dropPast, last)
}

var errEnough = errors.New("enough")

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
			if err := j.queue.Do(ctx, &commit.Request{Size: len(list), Quota: commit.DiskQuota, Run: func(tx *commit.Transaction) error {
				return tx.Store.(*store).replaceBodies(list)
			}}); err != nil {
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
				err = errEnough
			}
			return err
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
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

func (s *store) replaceBodies(list []deflated) error {
	for _, d := range list {
		n, err := s.count(s.st.deflatePast, d.version, d.body)
		if err != nil {
			return err
		}
		if n > 0 { // and it was not dropped
			t := s.ledger.Totals[d.kind]
			t.HistoryBytes += int64(len(d.body)) - d.had
			s.ledger.Totals[d.kind] = t
		}
	}
	return nil
}
