package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/journal/transfer"
)

// transferTarget is a journal in PostgreSQL in the making: all of it is one
// transaction, of which nobody sees anything before its end.
type transferTarget struct {
	conn *pgx.Conn
	tx   pgx.Tx
}

func openTransferTarget(ctx context.Context, url string) (transfer.Target, error) {
	conn, err := connectForCopy(ctx, url)
	if err != nil {
		return nil, err
	}
	t := &transferTarget{conn: conn}
	if err := t.begin(ctx); err != nil {
		closeCopy(conn)
		return nil, err
	}
	return t, nil
}

// begin makes the tables where there are none, and sees to it that they are empty, and
// stay so.
func (t *transferTarget) begin(ctx context.Context) (err error) {
	if err := checkServer(ctx, t.conn, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if t.tx, err = t.conn.Begin(ctx); err != nil {
		return err
	}
	if err := lockSetUp(ctx, t.tx); err != nil {
		return err
	}
	if err := makeTables(ctx, t.tx); err != nil {
		return err
	}
	if err := checkUnused(ctx, t.tx); err != nil {
		return err
	}
	if _, err := t.tx.Exec(ctx, "LOCK TABLE "+copyTables+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return fmt.Errorf("wait until nobody writes: %w", err)
	}
	if err := checkUnused(ctx, t.tx); err != nil {
		return err
	}
	var used bool
	err = t.tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM documents) OR EXISTS (SELECT FROM refusals) OR EXISTS (SELECT FROM receipts) OR EXISTS (SELECT FROM history)").Scan(&used)
	if err == nil && used {
		err = errors.New("its schema has a journal already, and a copy overwrites nothing; name another schema, or drop this one if nobody needs it: DROP SCHEMA … CASCADE; CREATE SCHEMA …")
	}
	return err
}

func (t *transferTarget) Write(ctx context.Context, head transfer.Head, documents iter.Seq2[transfer.Document, error],
	refusals iter.Seq2[transfer.Refusal, error], receipts iter.Seq2[transfer.Receipt, error], history iter.Seq2[transfer.Past, error]) error {
	err := t.copyFrom(ctx, "documents", copyDocumentColumns+", free_at, holder, claimed", rowsOf(documents, func(d transfer.Document) ([]any, error) {
		// Only damage makes them so.
		if d.State != int64(int16(d.State)) || !isText(string(d.Kind)) || !isText(string(d.Op)) {
			return nil, fmt.Errorf("the document %s %q cannot be copied: its kind, %q, its operation, %q, or its state, %d, are damaged, and PostgreSQL would not take them; "+
				"have the publisher deliver it again to a riskdex on this journal, or restore a backup", d.Kind, d.ID, d.Kind, d.Op, d.State)
		}
		return []any{string(d.Kind), []byte(d.ID), int64(d.Version), int64(d.Origin), string(d.Op), int16(d.State), []byte(d.Code), d.AcceptedAt.UnixMicro(),
			d.WaitedAt, d.EndedAt, d.CRC, []byte(d.Trace), []byte(d.ErrorType), []byte(d.Reason), d.Body, int64(d.Kept), d.CodeOnly, int64(0), int64(0), int64(0)}, nil
	}))
	if err == nil {
		err = t.copyFrom(ctx, "refusals", copyRefusalColumns+", folded", rowsOf(refusals, func(r transfer.Refusal) ([]any, error) {
			if !isText(string(r.Kind)) {
				return nil, fmt.Errorf("the refusal %d cannot be copied: its kind, %q, is damaged, and PostgreSQL would not take it; drop it", r.Seq, r.Kind)
			}
			return []any{r.Seq, int64(r.Place), r.At.UnixMicro(), r.Size, string(r.Kind), []byte(r.Method), []byte(r.Path), int64(r.Position), []byte(r.ID),
				[]byte(r.Reason), []byte(r.Detail), r.Cut, r.CRC, r.Body, []byte(commit.Fold(r.ID))}, nil
		}))
	}
	if err == nil {
		err = t.copyFrom(ctx, "receipts", "sender, id, at, digest, answer", rowsOf(receipts, func(r transfer.Receipt) ([]any, error) {
			return []any{[]byte(r.Sender), []byte(r.ID), r.At, append([]byte{}, r.Digest...), append([]byte{}, r.Answer...)}, nil // not NULL
		}))
	}
	if err == nil {
		err = t.copyFrom(ctx, "history", commit.HistoryColumns+", old_body", rowsOf(history, func(r transfer.Past) ([]any, error) {
			o := r.Old
			if o.State != int64(int16(o.State)) || o.Form != int64(int16(o.Form)) || !isText(string(r.Key.Kind)) || !isText(string(r.Op)) || !isText(string(o.Op)) {
				return nil, fmt.Errorf("the entry of the history with version %d cannot be copied: it is damaged, and PostgreSQL would not take it; restore a backup", r.Version)
			}
			return []any{string(r.Key.Kind), []byte(r.Key.ID), int64(r.Version), string(r.Op), r.At, r.Bytes, []byte(r.Source.Sender), []byte(r.Source.Address), []byte(r.Source.Call),
				int64(o.Version), string(o.Op), []byte(o.Code), o.At, int16(o.State), o.Ended, o.CRC, o.Bytes, int16(o.Form), []byte(r.Source.Request), r.Body}, nil
		}))
	}
	if err == nil {
		err = t.writeHead(ctx, head)
	}
	return err
}

// isText reports whether PostgreSQL takes a text for one.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// rowsOf makes rows of records.
func rowsOf[T any](records iter.Seq2[T, error], row func(T) ([]any, error)) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for r, err := range records {
			var values []any
			if err == nil {
				values, err = row(r)
			}
			if !yield(values, err) || err != nil {
				return
			}
		}
	}
}

func (t *transferTarget) copyFrom(ctx context.Context, table, columns string, rows iter.Seq2[[]any, error]) error {
	next, stop := iter.Pull2(rows)
	defer stop()
	var failed error // of the rows; PostgreSQL would only say that it was told of an error
	_, err := t.tx.CopyFrom(ctx, pgx.Identifier{table}, strings.Split(columns, ", "), pgx.CopyFromFunc(func() ([]any, error) {
		row, err, more := next()
		if !more {
			return nil, nil
		}
		failed = err
		return row, err
	}))
	if failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("write the %s: %w", table, err)
	}
	return nil
}

// writeHead writes the rest, with all sums in one slot.
func (t *transferTarget) writeHead(ctx context.Context, head transfer.Head) error {
	b := &pgx.Batch{}
	b.Queue("UPDATE ids SET value = $1 WHERE name = 'line'", head.Line)
	// A riskdex may have been on it for a moment.
	b.Queue("DELETE FROM loss")
	if head.Loss.Until > 0 {
		b.Queue(commit.KeepLoss, int64(head.Loss.Since), int64(head.Loss.Until), head.Loss.NoticedAt)
	}
	b.Queue(commit.DropNotes)
	for name, value := range head.Notes {
		b.Queue(commit.KeepNote, name, value)
	}
	b.Queue("DELETE FROM totals")
	for k, sums := range head.Totals {
		b.Queue(addTotals, append([]any{int16(0), string(k), 0}, tables.TotalsArgs(sums)...)...)
	}
	b.Queue(sumDocuments)
	b.Queue("UPDATE meta SET refusals = sums.n, refusal_bytes = sums.bytes FROM (SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM refusals) AS sums")
	// These two hold also where the transaction is given up, so they must not go back.
	for sequence, last := range map[string]int64{"'versions'": int64(head.Last), "pg_get_serial_sequence('refusals', 'seq')": head.LastRefusal} {
		if last > 0 {
			b.Queue("SELECT setval("+sequence+", greatest($1::bigint, pg_sequence_last_value("+sequence+"::regclass)))", last)
		}
	}
	// Without it, the first claims would be planned as for a few documents.
	b.Queue("ANALYZE documents, refusals, receipts, history")
	return t.tx.SendBatch(ctx, b).Close()
}

func (t *transferTarget) Reader(context.Context) (transfer.Source, error) {
	return &transferSource{tx: t.tx, end: func() {}}, nil
}

// Publish waits for the disk, and for a standby, as every commit of a delivery does.
func (t *transferTarget) Publish(ctx context.Context) error { return t.tx.Commit(ctx) }

func (t *transferTarget) Close() error {
	closeCopy(t.conn)
	return nil
}
