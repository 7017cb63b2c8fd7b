package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/journal/transfer"
	"riskdex/report"
)

// transferSource is a journal in PostgreSQL that is read for a copy.
type transferSource struct {
	tx  pgx.Tx
	end func() // ends the transaction, where that is its own
}

// openTransferSource opens the journal and blocks writers, and processes that want to join, until
// it is closed.
func openTransferSource(ctx context.Context, url string) (transfer.Source, error) {
	conn, err := connectForCopy(ctx, url)
	if err != nil {
		return nil, err
	}
	tx, err := beginCopySource(ctx, conn)
	if err != nil {
		closeCopy(conn)
		return nil, err
	}
	return &transferSource{tx: tx, end: func() { closeCopy(conn) }}, nil
}

func beginCopySource(ctx context.Context, conn *pgx.Conn) (pgx.Tx, error) {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT "+journalIsThere).Scan(&there); err != nil {
		return nil, err
	}
	if !there {
		return nil, errors.New("its schema has no riskdex journal; name the schema with search_path=… in the URL if it is another one")
	}
	if err := checkUnused(ctx, conn); err != nil {
		return nil, err
	}
	if err := checkVersion(ctx, conn); err != nil { // it may lack a table that is to be locked
		return nil, err
	}
	// What the transaction sees is what there is at its first query, when it has the locks.
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE "+copyTables+" IN SHARE MODE"); err != nil {
		return nil, fmt.Errorf("wait until nobody writes: %w", err)
	}
	if err := lockSetUp(ctx, tx); err != nil {
		return nil, err
	}
	if err := checkUnused(ctx, tx); err != nil {
		return nil, err
	}
	return tx, checkVersion(ctx, tx)
}

func (s *transferSource) Close() error {
	s.end()
	return nil
}

func (s *transferSource) Head(ctx context.Context) (h transfer.Head, err error) {
	err = s.tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM documents),
		(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM versions),
		coalesce(pg_sequence_last_value(pg_get_serial_sequence('refusals', 'seq')::regclass), 0)`).Scan(&h.Documents, &h.Last, &h.LastRefusal)
	if err != nil {
		return h, err
	}
	if err := s.tx.QueryRow(ctx, "SELECT "+commit.LossColumns).Scan(h.Loss.ScanTargets()...); err != nil {
		return h, err
	}
	if h.Line, err = readLineage(ctx, s.tx); err != nil {
		return h, err
	}
	rows, err := s.tx.Query(ctx, commit.NotesQuery)
	if err != nil {
		return h, err
	}
	h.Notes = map[string]string{}
	var name, value string
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error { h.Notes[name] = value; return nil }); err != nil {
		return h, err
	}
	rows, err = s.tx.Query(ctx, tables.SumTotals)
	if err != nil {
		return h, err
	}
	h.Totals = map[report.Kind]commit.Totals{}
	var kind string
	var sums commit.Totals
	_, err = pgx.ForEachRow(rows, append([]any{&kind}, tables.TotalsTargets(&sums)...), func() error { h.Totals[report.Kind(kind)] = sums; return nil })
	return h, err
}

const copyDocumentColumns = `kind, id, version, origin, op, state, code, accepted_at, waiting_since, ended_at, crc, trace, error_type, reason, body, kept, alone`

// Documents goes from kind to kind, because the order of kinds in the table is that of a
// language.
func (s *transferSource) Documents(ctx context.Context) iter.Seq2[transfer.Document, error] {
	return func(yield func(transfer.Document, error) bool) {
		kinds, err := s.kinds(ctx)
		if err != nil {
			yield(transfer.Document{}, err)
			return
		}
		for _, kind := range kinds {
			for d, err := range s.documentsOf(ctx, kind) {
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}

// kinds also has those that are damaged. It has the planner use the index from now on:
// it would otherwise rather sort all bodies.
func (s *transferSource) kinds(ctx context.Context) ([]string, error) {
	if _, err := s.tx.Exec(ctx, "SET LOCAL enable_sort = off"); err != nil {
		return nil, err
	}
	rows, err := s.tx.Query(ctx, "SELECT DISTINCT kind FROM documents")
	if err != nil {
		return nil, err
	}
	kinds, err := pgx.CollectRows(rows, pgx.RowTo[string])
	slices.Sort(kinds)
	return kinds, err
}

func (s *transferSource) documentsOf(ctx context.Context, kind string) iter.Seq2[transfer.Document, error] {
	var last report.ID
	scan := func(rows pgx.Rows) (d transfer.Document, err error) {
		var at int64
		var state int16
		var id, code, trace, errorType, reason []byte
		err = rows.Scan((*string)(&d.Kind), &id, (*int64)(&d.Version), (*int64)(&d.Origin), (*string)(&d.Op), &state, &code, &at,
			&d.WaitedAt, &d.EndedAt, &d.CRC, &trace, &errorType, &reason, &d.Body, (*int64)(&d.Kept), &d.CodeOnly)
		d.ID, d.State, d.Code, d.AcceptedAt = report.ID(id), int64(state), string(code), commit.FromMicro(at)
		d.Trace, d.ErrorType, d.Reason, d.Body = string(trace), string(errorType), string(reason), orNil(d.Body)
		last = d.ID
		return d, err
	}
	return eachRow(ctx, s.tx, scan, func(err error) error {
		return fmt.Errorf("what comes after %s %q cannot be read: %w", kind, last, err)
	}, "SELECT "+copyDocumentColumns+" FROM documents WHERE kind = $1 ORDER BY id", kind)
}

const copyRefusalColumns = `seq, version, at, bytes, kind, method, path, position, id, reason, detail, cut, crc, body`

func (s *transferSource) Refusals(ctx context.Context) iter.Seq2[transfer.Refusal, error] {
	var last int64
	scan := func(rows pgx.Rows) (r transfer.Refusal, err error) {
		var at int64
		var method, path, id, reason, detail []byte
		err = rows.Scan(&r.Seq, (*int64)(&r.Place), &at, &r.Size, (*string)(&r.Kind), &method, &path, &r.Position, &id, &reason, &detail, &r.Cut, &r.CRC, &r.Body)
		r.At, r.Method, r.Path, r.ID, r.Reason, r.Detail = commit.FromMicro(at), string(method), string(path), string(id), string(reason), string(detail)
		r.Body = orNil(r.Body)
		last = r.Seq
		return r, err
	}
	return eachRow(ctx, s.tx, scan, func(err error) error {
		return fmt.Errorf("the refusal after number %d cannot be read: %w", last, err)
	}, "SELECT "+copyRefusalColumns+" FROM refusals ORDER BY seq")
}

func (s *transferSource) Receipts(ctx context.Context) iter.Seq2[transfer.Receipt, error] {
	scan := func(rows pgx.Rows) (r transfer.Receipt, err error) {
		var sender, id []byte
		err = rows.Scan(&sender, &id, &r.At, &r.Digest, &r.Answer)
		r.Sender, r.ID = string(sender), string(id)
		return r, err
	}
	return eachRow(ctx, s.tx, scan, func(err error) error { return fmt.Errorf("read the receipts: %w", err) },
		"SELECT sender, id, at, digest, answer FROM receipts ORDER BY sender, id")
}

func (s *transferSource) History(ctx context.Context) iter.Seq2[transfer.Past, error] {
	scan := func(rows pgx.Rows) (r transfer.Past, err error) {
		r.HistoryRow, err = tables.ScanPast(rows.Scan, &r.Body)
		r.Body = orNil(r.Body)
		return r, err
	}
	return eachRow(ctx, s.tx, scan, func(err error) error { return fmt.Errorf("read the history: %w", err) },
		"SELECT "+commit.HistoryColumns+", old_body FROM history ORDER BY version")
}

func orNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// eachRow reads the rows of a query, up to the first error, which fail explains.
func eachRow[T any](ctx context.Context, tx pgx.Tx, scan func(pgx.Rows) (T, error), fail func(error) error, query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := tx.Query(ctx, query, args...)
		if err == nil {
			defer rows.Close()
			for err == nil && rows.Next() {
				var r T
				if r, err = scan(rows); err == nil && !yield(r, nil) {
					return
				}
			}
			rows.Close()
			if err == nil {
				err = rows.Err()
			}
		}
		if err != nil && ctx.Err() == nil {
			err = fail(err)
		}
		if err != nil {
			yield(none, err)
		}
	}
}
