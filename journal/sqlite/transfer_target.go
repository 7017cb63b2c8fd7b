package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/journal/transfer"
)

// transferTarget is an SQLite journal in the making: a partial file beside the place
// where it will be. Until all is written it is marked as no journal, so that nobody takes
// what an interrupted copy has left for one.
type transferTarget struct {
	to, partial string
	locked      *os.File // of the name partial
	db          *sql.DB
	conn        *sql.Conn
}

func openTransferTarget(ctx context.Context, to string) (transfer.Target, error) {
	to, err := filepath.Abs(to)
	if err != nil {
		return nil, err
	}
	t := &transferTarget{to: to}
	if err := t.refuseToOverwrite(); err != nil {
		return nil, err
	}
	if err := checkFolder(filepath.Dir(to)); err != nil {
		return nil, err
	}
	f, err := createPartial(to)
	if err != nil {
		return nil, err
	}
	t.partial, t.locked = f.Name(), f
	if err := t.create(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// refuseToOverwrite looks for all that a riskdex would take for a part of the journal: a
// WAL, what the journal before it had acknowledged, a copy that is to take its place.
func (t *transferTarget) refuseToOverwrite() error {
	paths := []string{t.to}
	for _, suffix := range []string{"-wal", "-shm", "-journal", watermarkSuffix, suspectSuffix, wholeSuffix} {
		paths = append(paths, t.to+suffix)
	}
	begun, err := begunRestore(t.to)
	if err != nil {
		return err
	}
	if begun != "" {
		paths = append(paths, begun)
	}
	return refuseToOverwrite("a copy", paths...)
}

// create makes the tables, in a transaction that write ends. A file that is thrown away
// where anything fails needs no WAL.
func (t *transferTarget) create(ctx context.Context) (err error) {
	t.db, err = sql.Open("sqlite", dsn(t.partial)+cache(writerCacheKiB)+
		fmt.Sprintf("&_pragma=page_size(%d)&_pragma=journal_mode(off)&_pragma=synchronous(full)", pageSize))
	if err != nil {
		return err
	}
	if t.conn, err = t.db.Conn(ctx); err != nil {
		return err
	}
	return t.exec(ctx, "BEGIN; PRAGMA auto_vacuum = INCREMENTAL; "+create())
}

func (t *transferTarget) Write(ctx context.Context, head transfer.Head, documents iter.Seq2[transfer.Document, error],
	refusals iter.Seq2[transfer.Refusal, error], receipts iter.Seq2[transfer.Receipt, error], history iter.Seq2[transfer.Past, error]) error {
	if err := writeRows(ctx, t.conn, documents, `INSERT INTO documents (kind, id, version, origin, op, state, code, accepted_at,
		waiting_since, ended_at, crc, kept, alone, trace, error_type, reason, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		func(d transfer.Document) []any {
			return []any{string(d.Kind), string(d.ID), int64(d.Version), int64(d.Origin), string(d.Op), d.State, d.Code, d.AcceptedAt.UnixMicro(),
				d.WaitedAt, d.EndedAt, d.CRC, int64(d.Kept), d.CodeOnly, d.Trace, d.ErrorType, d.Reason, d.Body}
		}); err != nil {
		return err
	}
	if err := writeRows(ctx, t.conn, refusals, `INSERT INTO refusals
		(seq, version, at, bytes, kind, method, path, position, id, folded, reason, detail, cut, crc, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		func(r transfer.Refusal) []any {
			return []any{r.Seq, int64(r.Place), r.At.UnixMicro(), r.Size, string(r.Kind), r.Method, r.Path, r.Position, r.ID, commit.Fold(r.ID), r.Reason, r.Detail, r.Cut, r.CRC, r.Body}
		}); err != nil {
		return err
	}
	if err := writeRows(ctx, t.conn, receipts, `INSERT INTO receipts (sender, id, at, digest, answer) VALUES (?, ?, ?, ?, ?)`,
		func(r transfer.Receipt) []any {
			return []any{r.Sender, r.ID, r.At, append([]byte{}, r.Digest...), append([]byte{}, r.Answer...)} // not NULL
		}); err != nil {
		return err
	}
	if err := writeRows(ctx, t.conn, history, `INSERT INTO history (`+commit.HistoryColumns+`, old_body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		func(r transfer.Past) []any {
			o := r.Old
			return []any{string(r.Key.Kind), string(r.Key.ID), int64(r.Version), string(r.Op), r.At, r.Bytes, r.Source.Sender, r.Source.Address, r.Source.Call,
				int64(o.Version), string(o.Op), o.Code, o.At, o.State, o.Ended, o.CRC, o.Bytes, o.Form, r.Source.Request, r.Body}
		}); err != nil {
		return err
	}
	return t.writeHead(ctx, head)
}

// writeRows runs a statement with the values of each record.
func writeRows[T any](ctx context.Context, conn *sql.Conn, records iter.Seq2[T, error], query string, values func(T) []any) error {
	stmt, err := conn.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for r, err := range records {
		if err == nil {
			_, err = stmt.ExecContext(ctx, values(r)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeHead writes the rest, and what makes it a journal.
func (t *transferTarget) writeHead(ctx context.Context, head transfer.Head) error {
	for k, sums := range head.Totals {
		if err := t.exec(ctx, `INSERT OR REPLACE INTO totals (kind, `+tables.EachTotal("@", "@", 0)+`) VALUES (?, `+tables.EachTotal("?", "?", 0)+`)`,
			append([]any{string(k)}, tables.TotalsArgs(sums)...)...); err != nil {
			return err
		}
	}
	if err := t.exec(ctx, `UPDATE meta SET value = ? WHERE name = 'last_version'`, int64(head.Last)); err != nil {
		return err
	}
	if err := t.exec(ctx, `UPDATE ids SET value = ? WHERE name = 'line'`, head.Line); err != nil {
		return err
	}
	if head.Loss.Until > 0 {
		if err := t.exec(ctx, commit.KeepLoss, int64(head.Loss.Since), int64(head.Loss.Until), head.Loss.NoticedAt); err != nil {
			return err
		}
	}
	for name, value := range head.Notes {
		if err := t.exec(ctx, commit.KeepNote, name, value); err != nil {
			return err
		}
	}
	// The number of one that was dropped is not given to another.
	if err := t.exec(ctx, `DELETE FROM sqlite_sequence WHERE name = 'refusals'`); err != nil {
		return err
	}
	if err := t.exec(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ('refusals', ?)`, head.LastRefusal); err != nil {
		return err
	}
	// All else is durable before the mark.
	if err := t.exec(ctx, "COMMIT; "+markJournal); err != nil {
		return err
	}
	return t.leave()
}

func (t *transferTarget) exec(ctx context.Context, query string, args ...any) error {
	_, err := t.conn.ExecContext(ctx, query, args...)
	return err
}

func (t *transferTarget) Reader(ctx context.Context) (transfer.Source, error) {
	s, err := readTransferred(ctx, t.partial)
	if err != nil {
		return nil, err
	}
	var answer string
	if err = s.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&answer); err == nil && answer != "ok" {
		err = fmt.Errorf("its pages are damaged (%s)", answer)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (t *transferTarget) Publish(context.Context) error {
	return nameFile(t.partial, t.to, t.refuseToOverwrite)
}

func (t *transferTarget) Close() error {
	return errors.Join(t.leave(), remove(t.partial))
}

// leave closes the file.
func (t *transferTarget) leave() error {
	var errs []error
	if t.conn != nil {
		errs = append(errs, t.conn.Close())
	}
	if t.db != nil {
		errs = append(errs, t.db.Close())
	}
	if t.locked != nil {
		errs = append(errs, t.locked.Close())
	}
	t.conn, t.db, t.locked = nil, nil, nil
	return errors.Join(errs...)
}

var _ transfer.Target = (*transferTarget)(nil)
