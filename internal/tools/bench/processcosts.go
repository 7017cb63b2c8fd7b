package main

import (
	"context"
	"fmt"
)

// costs measures what deliveries cost PostgreSQL in bytes, which hardly depends on the
// machine: the size of a document, the WAL that is written when it is accepted, accepted
// once more and settled, and the number of transactions.
func (b *bench) costs(ctx context.Context, w *workload, db *database) {
	journal := db.schema(ctx)
	deliveries := b.scale(20_000, 4_000)
	each := func(n int64) float64 { return float64(n) / float64(deliveries) }
	spent := func(name string, use func()) {
		wal, transactions := db.spent(ctx)
		use()
		walAfter, transactionsAfter := db.spent(ctx)
		b.note(
			told(name+": log", each(walAfter-wal), "bytes/document"),
			told(name+": transactions", each(transactionsAfter-transactions), "/document"),
		)
	}
	g := b.group(ctx, 1, journal, nowhere)
	for edition, name := range []string{"new documents, Elasticsearch away", "the same once more"} {
		l := loadOf(w, deliveries, g.addresses()...)
		l.edition = func(int) int { return edition }
		spent(name, func() { must2(l.send(ctx)) })
		table, indexes := db.two(ctx, "SELECT pg_table_size($1::regclass), pg_indexes_size($1::regclass)",
			fmt.Sprintf("bench%d.documents", db.schemas))
		b.note(
			told(name+": table", each(table), "bytes/document"),
			told(name+": its indexes", each(indexes), "bytes/document"),
		)
	}
	prefix := g[0].prefix
	g.end(ctx)
	r := b.prepare("process")
	r.journal, r.prefix = journal, prefix
	spent("claimed and settled", func() {
		r.start(ctx, b.es.url)
		r.settled(ctx)
	})
	r.end(ctx)
}

// spent returns how many bytes of WAL the server has written, and how many transactions that
// change something it has begun.
func (db *database) spent(ctx context.Context) (wal, transactions int64) {
	return db.two(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
		pg_snapshot_xmax(pg_current_snapshot())::text::bigint`)
}

// two returns the two numbers that a query answers.
func (db *database) two(ctx context.Context, query string, args ...any) (a, b int64) {
	check(db.conn.QueryRow(ctx, query, args...).Scan(&a, &b))
	return a, b
}
