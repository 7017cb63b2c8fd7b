package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/journal/transfer"
	"riskdex/report"
)

// transferSource is an SQLite journal that is read for a copy.
type transferSource struct {
	*source
	lock  *os.File // nil where nobody else knows of the file
	files *files   // as lock

	noted      report.Version // beside it, as the last that was acknowledged
	withoutWAL bool           // it was in use, and its WAL is gone
}

// Endpoint is the journal in a file, for copying from or to it.
func Endpoint(path string) transfer.Endpoint {
	return transfer.Endpoint{
		Name:       path,
		OpenSource: func(ctx context.Context) (transfer.Source, error) { return openTransferSource(ctx, path) },
		OpenTarget: func(ctx context.Context) (transfer.Target, error) { return openTransferTarget(ctx, path) },
	}
}

// openTransferSource locks a journal and opens it for reading. Nothing is created
// where there is none.
func openTransferSource(ctx context.Context, path string) (transfer.Source, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := checkIsFile(path); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	for _, suffix := range []string{suspectSuffix, wholeSuffix} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("its last process could not write it (%s is there), and it has to be rewritten first: "+
				"start riskdex on it, and stop it again", path+suffix), err, lock.Close())
		}
	}
	files, err := lockFiles(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	noted, withoutWAL, err := checkWALBeside(ctx, path)
	if err != nil {
		return nil, errors.Join(err, files.close(), lock.Close())
	}
	s, err := readTransferred(ctx, path)
	if err != nil {
		return nil, errors.Join(err, files.close(), lock.Close())
	}
	s.lock, s.files, s.noted, s.withoutWAL = lock, files, noted, withoutWAL
	return s, nil
}

func readTransferred(ctx context.Context, path string) (*transferSource, error) {
	src, err := openSource(ctx, path)
	if err != nil {
		return nil, restoreHint(err)
	}
	err = checkIsJournal(ctx, src.conn)
	if err != nil {
		return nil, errors.Join(restoreHint(err), src.close())
	}
	return &transferSource{source: src}, nil
}

func (s *transferSource) Close() error {
	err := s.source.close()
	if s.lock != nil {
		err = errors.Join(err, s.files.close(), s.lock.Close())
	}
	return err
}

// Head counts the records and not the entries of an index: a record that has none must
// not get lost.
func (s *transferSource) Head(ctx context.Context) (h transfer.Head, err error) {
	if h.Totals, err = readTotals(ctx, s.conn); err != nil {
		return h, fmt.Errorf("read the totals: %w", restoreHint(err))
	}
	for query, into := range map[string]any{
		`SELECT count(*) FROM documents NOT INDEXED`:                                    &h.Documents,
		`SELECT value FROM meta WHERE name = 'last_version'`:                            &h.Last,
		`SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'refusals'), 0)`: &h.LastRefusal,
	} {
		if err := s.conn.QueryRowContext(ctx, query).Scan(into); err != nil {
			return h, fmt.Errorf("%s: %w", query, restoreHint(nonsense(err)))
		}
	}
	if h.Line, err = readLineage(ctx, s.conn); err != nil {
		return h, err
	}
	if err := s.conn.QueryRowContext(ctx, `SELECT `+commit.LossColumns).Scan(h.Loss.ScanTargets()...); err != nil {
		return h, fmt.Errorf("read what it lacks: %w", restoreHint(nonsense(err)))
	}
	h.Notes = map[string]string{}
	rows, err := s.conn.QueryContext(ctx, commit.NotesQuery)
	if err := tables.ForRows(rows, err, func(scan func(...any) error) error {
		var name, value string
		err := scan(&name, &value)
		h.Notes[name] = value
		return err
	}); err != nil {
		return h, fmt.Errorf("read its notes: %w", restoreHint(nonsense(err)))
	}
	if lost := whatIsLost(s.noted, h.Last, s.withoutWAL, time.Now()); lost.Until > 0 {
		h.Loss, h.Last = h.Loss.Join(lost), lost.Until
	}
	return h, nil
}

// Keys come from their index, without a look at the records, so that it can be said
// which record cannot be read.
const copyDocuments = `SELECT k.kind, k.id, d.kind, d.id, d.version, d.origin, d.op, d.state, d.code, d.accepted_at,
	d.waiting_since, d.ended_at, d.crc, d.trace, d.error_type, d.reason, d.body, d.kept, d.alone
	FROM documents AS k INDEXED BY documents_key LEFT JOIN documents AS d ON d.doc = k.doc ORDER BY k.kind, k.id`

func (s *transferSource) Documents(ctx context.Context) iter.Seq2[transfer.Document, error] {
	var last report.Key
	scan := func(rows *sql.Rows) (d transfer.Document, err error) {
		var key report.Key
		var at, alone exactInt
		err = rows.Scan((*exactText)(&key.Kind), (*exactText)(&key.ID), (*exactText)(&d.Kind), (*exactText)(&d.ID),
			(*exactInt)(&d.Version), (*exactInt)(&d.Origin), (*exactText)(&d.Op), (*exactInt)(&d.State), (*exactText)(&d.Code), &at,
			(*exactInt)(&d.WaitedAt), (*exactInt)(&d.EndedAt), (*exactInt)(&d.CRC), (*exactText)(&d.Trace),
			(*exactText)(&d.ErrorType), (*exactText)(&d.Reason), (*exactBytes)(&d.Body), (*exactInt)(&d.Kept), &alone)
		d.CodeOnly = alone != 0
		d.AcceptedAt = commit.FromMicro(int64(at))
		if err == nil && d.Key != key {
			err = fmt.Errorf("%w: it says that it is %s %q", errNonsense, d.Kind, d.ID)
		}
		if err == nil {
			last = d.Key
		}
		return d, err
	}
	return each(ctx, s.conn, copyDocuments, scan, func(err error) error {
		return fmt.Errorf("%s cannot be copied; have the publisher deliver it again to a riskdex on this journal, or restore a backup: %w",
			s.after(ctx, last), err)
	})
}

// after names the document that comes after another one.
func (s *transferSource) after(ctx context.Context, last report.Key) string {
	var kind, id tables.Text
	err := s.conn.QueryRowContext(ctx, `SELECT kind, id FROM documents INDEXED BY documents_key WHERE (kind, id) > (?1, ?2) ORDER BY kind, id LIMIT 1`,
		string(last.Kind), string(last.ID)).Scan(&kind, &id)
	if err != nil {
		return fmt.Sprintf("the document after %s %q", last.Kind, last.ID)
	}
	return fmt.Sprintf("the document %s %q", kind, id)
}

// Refusals implements transfer.Source.
func (s *transferSource) Refusals(ctx context.Context) iter.Seq2[transfer.Refusal, error] {
	var last int64
	scan := func(rows *sql.Rows) (r transfer.Refusal, err error) {
		var at, position, cut, crc exactInt
		err = rows.Scan((*exactInt)(&r.Seq), (*exactInt)(&r.Place), &at, (*exactInt)(&r.Size), (*exactText)(&r.Kind), (*exactText)(&r.Method),
			(*exactText)(&r.Path), &position, (*exactText)(&r.ID), (*exactText)(&r.Reason), (*exactText)(&r.Detail), &cut, &crc, (*exactBytes)(&r.Body))
		r.At, r.Position, r.Cut, r.CRC = commit.FromMicro(int64(at)), int(position), cut != 0, int64(crc)
		if err == nil {
			last = r.Seq
		}
		return r, err
	}
	return each(ctx, s.conn, `SELECT seq, version, at, bytes, kind, method, path, position, id, reason, detail, cut, crc, body FROM refusals ORDER BY seq`,
		scan, func(err error) error {
			return fmt.Errorf("the refusal after number %d cannot be copied; drop it, or restore a backup: %w", last, err)
		})
}

func (s *transferSource) Receipts(ctx context.Context) iter.Seq2[transfer.Receipt, error] {
	scan := func(rows *sql.Rows) (r transfer.Receipt, err error) {
		err = rows.Scan((*exactText)(&r.Sender), (*exactText)(&r.ID), (*exactInt)(&r.At), (*exactBytes)(&r.Digest), (*exactBytes)(&r.Answer))
		return r, err
	}
	return each(ctx, s.conn, `SELECT sender, id, at, digest, answer FROM receipts ORDER BY sender, id`, scan, func(err error) error {
		return fmt.Errorf("the receipts cannot be copied; they are of no use after %v: %w", report.ReceiptsFor, err)
	})
}

func (s *transferSource) History(ctx context.Context) iter.Seq2[transfer.Past, error] {
	var last report.Version
	scan := func(rows *sql.Rows) (r transfer.Past, err error) {
		r.HistoryRow, err = tables.ScanPast(rows.Scan, (*exactBytes)(&r.Body))
		last = r.Version
		return r, err
	}
	return each(ctx, s.conn, `SELECT `+commit.HistoryColumns+`, old_body FROM history ORDER BY version`, scan, func(err error) error {
		return fmt.Errorf("the entry of the history after version %d cannot be copied; restore a backup: %w", last, err)
	})
}

// each reads the rows of a query, up to the first error, which fail explains.
func each[T any](ctx context.Context, conn *sql.Conn, query string, scan func(*sql.Rows) (T, error), fail func(error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := conn.QueryContext(ctx, query)
		if err == nil {
			defer rows.Close()
			for rows.Next() {
				r, wrong := scan(rows)
				if wrong != nil {
					err = nonsense(wrong)
					break
				}
				if !yield(r, nil) {
					return
				}
			}
			err = errors.Join(err, rows.Err(), rows.Close())
		}
		if err != nil && ctx.Err() == nil {
			err = fail(err)
		}
		if err != nil {
			yield(none, err)
		}
	}
}
