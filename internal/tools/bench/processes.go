package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/postgres"
)

// shared is the measurement of processes that share a journal.
type shared struct {
	accepted float64 // deliveries per second while Elasticsearch is down
	p50, p99 float64 // ms to the acknowledgement meanwhile
	indexed  float64 // documents per second, until all are in the index
	riskdex  float64 // CPU of all processes for a delivery, in µs, while Elasticsearch is down
	postgres float64 // that of PostgreSQL
}

// processes measures one, two and four processes with one PostgreSQL, in comparison with one
// process with SQLite. Both journals are on the disk of the temporary folder.
func (b *bench) processes(ctx context.Context) {
	w := newWorkload(4 << 10)
	dir := must(os.MkdirTemp("", "riskdex-bench-"))
	defer os.RemoveAll(dir)
	disk := fsyncs(dir, 500)
	b.note(told("processes: an fsync, median", disk.median(), "ms"))
	db, stop := startDatabase(ctx)
	defer stop()

	// SQLite is measured before and after, because the speed of the machine varies.
	file := func(context.Context) string { return filepath.Join(must(os.MkdirTemp(dir, "journal-")), "riskdex.db") }
	before := b.share(ctx, db, w, 1, file)
	counts := []int{1, 2, 4}
	var all []shared
	for _, n := range counts {
		all = append(all, b.share(ctx, db, w, n, db.schema))
	}
	alone := mean(before, b.share(ctx, db, w, 1, file))
	b.note(alone.results("SQLite")...)
	for i, n := range counts {
		name := fmt.Sprintf("%d processes", n)
		if n == 1 {
			name = "1 process"
		}
		results := all[i].results(name)
		for k, r := range alone.results("") {
			b.note(results[k].beside(r.Value))
		}
		b.note(told(name+": CPU of PostgreSQL", all[i].postgres, "µs/delivery"))
	}
	b.costs(ctx, w, db)
}

func mean(a, b shared) shared {
	return shared{(a.accepted + b.accepted) / 2, (a.p50 + b.p50) / 2, (a.p99 + b.p99) / 2, (a.indexed + b.indexed) / 2,
		(a.riskdex + b.riskdex) / 2, (a.postgres + b.postgres) / 2}
}

func (s shared) results(name string) []result {
	return []result{
		told(name+": accepted", s.accepted, "deliveries/s"),
		told(name+": median", s.p50, "ms"),
		told(name+": 99th percentile", s.p99, "ms"),
		told(name+": indexed", s.indexed, "documents/s"),
		told(name+": CPU of riskdex", s.riskdex, "µs/delivery"),
	}
}

// share measures n processes with one journal, which is a new one for each measurement: deliveries
// while Elasticsearch is down, and then deliveries that are indexed.
func (b *bench) share(
	ctx context.Context, db *database, w *workload, n int, journal func(context.Context) string,
) (s shared) {
	group := b.group(ctx, n, journal(ctx), nowhere)
	deliveries := b.scale(40_000, 4_000)
	before, databaseBefore := group.processor(), db.processor(ctx)
	took, acks := must2(loadOf(w, deliveries, group.addresses()...).send(ctx))
	after := group.processor()
	spent := time.Duration(0)
	for pid, processor := range db.processor(ctx) {
		spent += processor - databaseBefore[pid]
	}
	group.end(ctx)
	s = shared{
		accepted: perSecond(deliveries, took), p50: acks.median(), p99: acks.p99(),
		riskdex: usEach(deliveries, after-before), postgres: usEach(deliveries, spent),
	}
	group = b.group(ctx, n, journal(ctx), b.es.url)
	first := group[0]
	first.indexed(ctx)
	deliveries = b.scale(20_000, 2_000)
	took, _ = b.deliver(ctx, loadOf(w, deliveries, group.addresses()...), first.index(), deliveries)
	b.expect(ctx, first.index(), deliveries)
	group.end(ctx)
	s.indexed = perSecond(deliveries, took)
	return s
}

// group is processes with one journal and the same indices.
type group []*riskdex

func (b *bench) group(ctx context.Context, n int, journal, elasticsearch string) (g group) {
	prefix := b.prefix("processes")
	for range n {
		r := b.prepare("process")
		r.journal, r.prefix = journal, prefix
		r.start(ctx, elasticsearch)
		g = append(g, r)
	}
	return g
}

func (g group) addresses() (all []string) {
	for _, r := range g {
		all = append(all, r.deliveries)
	}
	return all
}

// processor returns the CPU time of all processes.
func (g group) processor() (sum time.Duration) {
	for _, r := range g {
		sum += must(processorOf(r.process.PID()))
	}
	return sum
}

func (g group) end(ctx context.Context) {
	for _, r := range g {
		r.end(ctx)
	}
}

// database is a PostgreSQL server for journals.
type database struct {
	conn    *pgx.Conn
	url     string
	schemas int
}

// startDatabase starts a server with PostgreSQL's default settings, by which a commit is
// durable.
func startDatabase(ctx context.Context) (db *database, stop func()) {
	server := must(postgres.New(ctx))
	stop = func() { check(errors.Join(server.Stop(), server.Remove())) }
	err := server.Start(ctx)
	var conn *pgx.Conn
	if err == nil {
		conn, err = pgx.Connect(ctx, server.URL())
	}
	if err != nil {
		stop()
		check(err)
	}
	return &database{conn: conn, url: server.URL()}, stop
}

// processor returns the CPU time of each process of the server but the one that starts the others,
// and but for those that have ended.
func (db *database) processor(ctx context.Context) map[int]time.Duration {
	all := map[int]time.Duration{}
	rows := must(db.conn.Query(ctx, "SELECT pid FROM pg_stat_activity"))
	for _, pid := range must(pgx.CollectRows(rows, pgx.RowTo[int])) {
		if processor, err := processorOf(pid); err == nil {
			all[pid] = processor
		}
	}
	return all
}

// schema creates an empty schema for a journal, drops the previous one, and returns the URL
// of the journal.
func (db *database) schema(ctx context.Context) string {
	old, name := fmt.Sprintf("bench%d", db.schemas), fmt.Sprintf("bench%d", db.schemas+1)
	db.schemas++
	for _, query := range []string{"DROP SCHEMA IF EXISTS " + old + " CASCADE", "CREATE SCHEMA " + name, "CHECKPOINT"} {
		must(db.conn.Exec(ctx, query))
	}
	return db.url + "?search_path=" + name
}
