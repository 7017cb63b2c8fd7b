package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/postgres"
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
func (b *bench) processes(ctx context.Context) (err error) {
	w, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "riskdex-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	disk, err := fsyncs(dir, 500)
	if err != nil {
		return err
	}
	b.note(told("processes: an fsync, median", ms(disk.at(0.5)), "ms"))
	db, stop, err := startDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	// SQLite is measured before and after, because the speed of the machine varies.
	file := func(context.Context) (string, error) {
		folder, err := os.MkdirTemp(dir, "journal-")
		return filepath.Join(folder, "riskdex.db"), err
	}
	before, err := b.share(ctx, db, w, 1, file)
	if err != nil {
		return err
	}
	counts := []int{1, 2, 4}
	var all []shared
	for _, n := range counts {
		one, err := b.share(ctx, db, w, n, db.schema)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	after, err := b.share(ctx, db, w, 1, file)
	if err != nil {
		return err
	}
	alone := mean(before, after)
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
	return b.costs(ctx, w, db)
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

// share measures n processes with one journal, which is a new one for each measurement.
func (b *bench) share(ctx context.Context, db *database, w *workload, n int, journal func(context.Context) (string, error)) (s shared, err error) {
	name, err := journal(ctx)
	if err != nil {
		return s, err
	}
	if s, err = b.shareAway(ctx, db, w, n, name); err != nil {
		return s, err
	}
	if name, err = journal(ctx); err == nil {
		s.indexed, err = b.shareIndex(ctx, w, n, name)
	}
	return s, err
}

// shareAway measures deliveries while Elasticsearch is down.
func (b *bench) shareAway(ctx context.Context, db *database, w *workload, n int, journal string) (s shared, err error) {
	group, err := b.group(ctx, n, journal, nowhere)
	if err != nil {
		return s, err
	}
	deliveries := b.scale(40_000, 4_000)
	before, err := group.processor()
	if err != nil {
		return s, err
	}
	databaseBefore, err := db.processor(ctx)
	if err != nil {
		return s, err
	}
	took, acks, err := load{addresses: group.addresses(), workload: w, deliveries: deliveries}.send(ctx)
	if err != nil {
		return s, err
	}
	after, err := group.processor()
	if err != nil {
		return s, err
	}
	databaseAfter, err := db.processor(ctx)
	if err != nil {
		return s, err
	}
	spent := time.Duration(0)
	for pid, processor := range databaseAfter {
		spent += processor - databaseBefore[pid]
	}
	s = shared{
		accepted: perSecond(deliveries, took), p50: ms(acks.at(0.5)), p99: ms(acks.at(0.99)),
		riskdex: usEach(deliveries, after-before), postgres: usEach(deliveries, spent),
	}
	return s, group.end(ctx)
}

// shareIndex returns how many documents per second are delivered and indexed.
func (b *bench) shareIndex(ctx context.Context, w *workload, n int, journal string) (rate float64, err error) {
	group, err := b.group(ctx, n, journal, b.es.url)
	if err != nil {
		return 0, err
	}
	first := group[0]
	if err = first.indexed(ctx); err == nil {
		err = b.es.settle(ctx)
	}
	if err != nil {
		return 0, err
	}
	deliveries := b.scale(20_000, 2_000)
	began := time.Now()
	_, _, err = load{addresses: group.addresses(), workload: w, deliveries: deliveries}.send(ctx)
	if err == nil {
		err = first.written(ctx, deliveries)
	}
	if err == nil {
		err = b.es.refresh(ctx, first.index())
	}
	if err != nil {
		return 0, err
	}
	rate = perSecond(deliveries, time.Since(began))
	if err := b.expect(ctx, first.index(), deliveries); err != nil {
		return 0, err
	}
	return rate, group.end(ctx)
}

// group is processes with one journal and the same indices.
type group []*riskdex

func (b *bench) group(ctx context.Context, n int, journal, elasticsearch string) (g group, err error) {
	prefix := b.prefix("processes")
	for range n {
		r, err := b.prepare("process")
		if err != nil {
			return nil, err
		}
		r.journal, r.prefix = journal, prefix
		if err := r.start(ctx, elasticsearch); err != nil {
			return nil, err
		}
		g = append(g, r)
	}
	return g, nil
}

func (g group) addresses() (all []string) {
	for _, r := range g {
		all = append(all, r.deliveries)
	}
	return all
}

// processor returns the CPU time of all processes.
func (g group) processor() (sum time.Duration, err error) {
	for _, r := range g {
		one, err := r.processor()
		if err != nil {
			return 0, err
		}
		sum += one
	}
	return sum, nil
}

func (g group) end(ctx context.Context) (err error) {
	for _, r := range g {
		err = errors.Join(err, r.end(ctx))
	}
	return err
}

// database is a PostgreSQL server for journals.
type database struct {
	conn    *pgx.Conn
	url     string
	schemas int
}

// startDatabase starts a server with PostgreSQL's default settings, by which a commit is
// durable.
func startDatabase(ctx context.Context) (db *database, stop func() error, err error) {
	server, err := postgres.New(ctx)
	if err != nil {
		return nil, nil, err
	}
	stop = func() error { return errors.Join(server.Stop(), server.Remove()) }
	if err := server.Start(ctx); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	conn, err := pgx.Connect(ctx, server.URL())
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return &database{conn: conn, url: server.URL()}, stop, nil
}

// processor returns the CPU time of each process of the server but the one that starts the others,
// and but for those that have ended.
func (db *database) processor(ctx context.Context) (map[int]time.Duration, error) {
	rows, err := db.conn.Query(ctx, "SELECT pid FROM pg_stat_activity")
	if err != nil {
		return nil, fmt.Errorf("ask PostgreSQL for its processes: %w", err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil, fmt.Errorf("ask PostgreSQL for its processes: %w", err)
	}
	all := map[int]time.Duration{}
	for _, pid := range pids {
		if processor, err := processorOf(pid); err == nil {
			all[pid] = processor
		}
	}
	return all, nil
}

// schema creates an empty schema for a journal, drops the previous one, and returns the URL
// of the journal.
func (db *database) schema(ctx context.Context) (string, error) {
	old, name := fmt.Sprintf("bench%d", db.schemas), fmt.Sprintf("bench%d", db.schemas+1)
	db.schemas++
	for _, query := range []string{"DROP SCHEMA IF EXISTS " + old + " CASCADE", "CREATE SCHEMA " + name, "CHECKPOINT"} {
		if _, err := db.conn.Exec(ctx, query); err != nil {
			return "", fmt.Errorf("make room for a journal: %w", err)
		}
	}
	return db.url + "?search_path=" + name, nil
}
