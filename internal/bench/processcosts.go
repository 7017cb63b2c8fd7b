package main

import (
	"context"
	"fmt"
)

// costs measures what deliveries cost PostgreSQL in bytes, which hardly depends on the
// machine: the size of a document, the WAL that is written when it is accepted, accepted
// once more and settled, and the number of transactions.
func (b *bench) costs(ctx context.Context, w *workload, db *database) error {
	journal, err := db.schema(ctx)
	if err != nil {
		return err
	}
	deliveries := b.scale(20_000, 4_000)
	spent := func(name string, use func() error) error {
		before, err := db.spent(ctx)
		if err == nil {
			err = use()
		}
		if err != nil {
			return err
		}
		after, err := db.spent(ctx)
		b.note(
			told(name+": log", float64(after.wal-before.wal)/float64(deliveries), "bytes/document"),
			told(name+": transactions", float64(after.transactions-before.transactions)/float64(deliveries), "/document"),
		)
		return err
	}
	g, err := b.group(ctx, 1, journal, nowhere)
	if err != nil {
		return err
	}
	for edition, name := range []string{"new documents, Elasticsearch away", "the same once more"} {
		if err := spent(name, func() error {
			_, _, err := load{addresses: g.addresses(), workload: w, deliveries: deliveries, edition: func(int) int { return edition }}.send(ctx)
			return err
		}); err != nil {
			return err
		}
		table, indexes, err := db.size(ctx)
		if err != nil {
			return err
		}
		b.note(
			told(name+": table", float64(table)/float64(deliveries), "bytes/document"),
			told(name+": its indexes", float64(indexes)/float64(deliveries), "bytes/document"),
		)
	}
	prefix := g[0].prefix
	if err := g.end(ctx); err != nil {
		return err
	}
	r, err := b.prepare("process")
	if err != nil {
		return err
	}
	r.journal, r.prefix = journal, prefix
	if err := spent("claimed and settled", func() error {
		if err := r.start(ctx, b.es.url); err != nil {
			return err
		}
		return r.settled(ctx)
	}); err != nil {
		return err
	}
	return r.end(ctx)
}

// spent is how many bytes of WAL the server has written, and how many transactions that change
// something it has begun.
type spent struct{ wal, transactions int64 }

func (db *database) spent(ctx context.Context) (s spent, err error) {
	err = db.conn.QueryRow(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
		pg_snapshot_xmax(pg_current_snapshot())::text::bigint`).Scan(&s.wal, &s.transactions)
	if err != nil {
		return s, fmt.Errorf("ask PostgreSQL what it has done: %w", err)
	}
	return s, nil
}

func (db *database) size(ctx context.Context) (table, indexes int64, err error) {
	name := fmt.Sprintf("bench%d.documents", db.schemas)
	err = db.conn.QueryRow(ctx, "SELECT pg_table_size($1::regclass), pg_indexes_size($1::regclass)", name).Scan(&table, &indexes)
	return table, indexes, err
}
