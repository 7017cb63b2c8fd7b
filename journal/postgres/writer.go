package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// run carries out the requests of the queue, a group per transaction, until the queue is
// closed and empty. A large delivery runs beside the others, as it would in another process:
// it takes seconds, and they take milliseconds. While the server takes no writes, run tries
// whether it does again: an instance that is not ready gets no deliveries that would show it.
func (j *Journal) run() {
	defer close(j.ended)
	var apart sync.WaitGroup
	defer apart.Wait()
	failed := commit.NewSignal()
	for {
		var timeout <-chan time.Time
		if j.failure.Load() != nil {
			timeout = time.After(j.pace.probe)
		}
		group, open := j.queue.Next(timeout, failed)
		if !open {
			return
		}
		if len(group) == 0 || !j.queue.GoesApart(group[0]) {
			j.execute(group)
			continue
		}
		apart.Go(func() {
			defer j.queue.EndApart(group[0].Kind)
			j.execute(group)
			if j.failure.Load() != nil {
				failed.Notify()
			}
		})
	}
}

// execute executes a group and answers every request of it. An empty group is a test write.
func (j *Journal) execute(all []*commit.Request) {
	group := commit.DropLate(all, j.isLate)
	if len(group) == 0 && len(all) > 0 {
		return
	}
	err := j.commit(group)
	switch {
	case errors.Is(err, errLate):
		j.execute(group)
		return
	case err == nil:
		if j.failure.Swap(nil) != nil {
			j.opt.Log.Info("the journal can be written again")
			j.idle.InvalidateAll()
		}
	case classify(err) == commit.FaultRequest && len(group) > 1:
		for i := range group {
			j.execute(group[i : i+1])
		}
		return
	case classify(err) == commit.FaultRequest:
	default:
		err = j.stop(err)
	}
	for _, r := range group {
		r.Answer(err)
	}
}

// stop notes why the journal cannot be written, and returns it.
func (j *Journal) stop(err error) error {
	if isDiskFull(err) {
		err = fmt.Errorf("%w: the disk of PostgreSQL is full; make room on it: %w", report.ErrNoRoom, err)
	} else {
		err = fmt.Errorf("the journal in PostgreSQL cannot be written: %w", err)
	}
	if j.failure.Load() == nil {
		j.opt.Log.Error("the journal accepts no deliveries", "error", err)
	}
	j.fail(err)
	j.pool.Reset() // other connections of the same age are no better
	return err
}

// attempts bounds the retries of a group commit after conflicts with other processes. In
// each conflict at least one process makes progress.
const attempts = 8

// commit executes a group.
func (j *Journal) commit(group []*commit.Request) (err error) {
	limit := j.pace.group
	if slices.ContainsFunc(group, func(r *commit.Request) bool { return r.Long }) {
		limit = j.pace.mark
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	locks := &lockSet{}
	for attempt := 0; attempt < attempts; attempt++ {
		var late []report.Key
		if late, err = j.tryCommit(ctx, group, locks); err == nil {
			return nil
		}
		grown := locks.add(late)
		switch {
		case errors.Is(err, errVersions):
			locks.spare = 2*locks.spare + largestDelivery(group)
		case errors.Is(err, errNames), code(err) == deadlock:
			locks.names = true // taken first, in the order in which every process takes it
		case !inTheWay(err):
			return err
		case grown:
			attempt-- // each time it gets further
		case attempt > 0:
			_ = commit.Sleep(ctx, rand.N(20*time.Millisecond)) // #nosec G404 -- so that they do not meet again
		}
	}
	return err
}

// lockSet is what earlier attempts at a group commit found that it has to lock.
type lockSet struct {
	names bool         // the lock of the names of cities
	spare int          // versions for each delivery, beside those that it is expected to take
	keys  []report.Key // documents that no request has named
}

// largestDelivery is how many versions a delivery of a group is expected to take at most.
func largestDelivery(group []*commit.Request) (n int) {
	for _, r := range group {
		n = max(n, r.Versions)
	}
	return n
}

// add adds documents, and reports whether any was new.
func (l *lockSet) add(keys []report.Key) (grown bool) {
	for _, k := range keys {
		if !slices.Contains(l.keys, k) {
			l.keys, grown = append(l.keys, k), true
		}
	}
	return grown
}

// tryCommit carries out a group in one transaction. After an error nothing of it has happened,
// unless the connection was lost at the moment of the commit. late are the documents that the
// lock set lacked.
func (j *Journal) tryCommit(ctx context.Context, group []*commit.Request, locks *lockSet) (late []report.Key, err error) {
	pooled, err := j.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	conn := pooled.Conn()
	tx, s, before, err := j.begin(ctx, conn, group, locks)
	compared := err != nil || j.given.isCompared(s.server)
	if !compared {
		err = j.compareGiven(ctx, conn, tx)
	}
	if err == nil {
		err = tx.Execute(group)
	}
	if err == nil && j.anyLate(group) {
		err = errLate
	}
	if err == nil {
		err = s.finish(tx.Take(), before)
	}
	if err != nil {
		s.giveUp(conn)
		pooled.Release()
		return s.outOfOrder, err
	}
	pooled.Release()
	if !compared {
		j.given.compared(s.server)
		j.idle.InvalidateAll()
	}
	j.announce(tx)
	tx.Warn(j.opt.Log)
	return nil, nil
}

// giveUp ends a failed transaction, and releases the lock of versions if it still has it.
func (s *store) giveUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	b := &pgx.Batch{}
	b.Queue("ROLLBACK")
	b.Queue("SELECT pg_advisory_unlock_all()")
	s.next = s.first
	s.queueUnused(b)
	if conn.SendBatch(ctx, b).Close() != nil {
		_ = conn.Close(ctx)
	}
}

// begin starts a transaction and locks the rows of a group, in one round trip.
func (j *Journal) begin(ctx context.Context, conn *pgx.Conn, group []*commit.Request, locks *lockSet) (*commit.Transaction, *store, commit.Ledger, error) {
	l := commit.Ledger{}.Begin()
	s := &store{
		ctx: ctx, tx: conn, keys: j.keys, at: j.clock.now(), me: j.member.me.Load(), names: locks.names, sync: commit.NeedsSync(group), spare: locks.spare, ledger: &l, wall: j.opt.Now,
		first: 1, next: 1,
	}
	keys, takes := wanted(group, locks.keys)
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	if !s.sync {
		b.Queue("SET LOCAL synchronous_commit = off")
	}
	if locks.names {
		s.queueNames(b)
	}
	b.Queue("SELECT refusals, refusal_bytes, "+serverTime("$1")+", current_setting('synchronous_commit'), "+readSessionName+", "+thisServer+
		" FROM meta", s.at).QueryRow(func(r pgx.Row) error {
		var commits, session string
		err := r.Scan(&l.Refusals, &l.RefusalBytes, &s.now, &commits, &session, &s.server)
		if err == nil {
			err = ownSession(conn, session)
		}
		if err == nil && s.sync && commits == "off" {
			err = errSyncOff
		}
		return err
	})
	if len(keys) > 0 {
		// A plan that was made while the table was small reads all of it, until the server
		// analyzes it. So this is planned anew; for other statements that costs more than it gains.
		b.Queue("SET LOCAL plan_cache_mode = force_custom_plan")
		b.Queue(lookupRows, lookupArgs(keys)...).Query(func(rows pgx.Rows) error { return s.readRows(rows, nil) })
		b.Queue("SET LOCAL plan_cache_mode TO DEFAULT")
	}
	if takes > 0 {
		s.queueVersions(b, int64(takes), 0)
	}
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return nil, s, l, fmt.Errorf("begin a transaction: %w", err)
	}
	before := l
	t := commit.NewTransaction(s, time.UnixMicro(s.now).UTC(), &l)
	t.Growth = j.Growth()
	t.Know(keys, s.found)
	return t, s, before, nil
}

// wanted returns the documents that a group looks up, and more, each once, and how many
// versions it takes.
func wanted(group []*commit.Request, more []report.Key) (keys []report.Key, takes int) {
	seen := map[report.Key]bool{}
	add := func(list []report.Key) {
		for _, k := range list {
			if !seen[k] {
				seen[k], keys = true, append(keys, k)
			}
		}
	}
	add(more)
	for _, r := range group {
		add(r.Keys)
		takes += r.Versions
	}
	return keys, takes
}

// finish writes everything and commits, in one round trip. A commit that must be durable waits for the
// disk, and for a standby. That includes a transaction that found everything done already, which may
// not be durable yet: it writes something, since the server only waits for transactions that do.
func (s *store) finish(w commit.Writes, before commit.Ledger) error {
	if err := s.checkNames(w.Rows); err != nil {
		return err
	}
	b := s.queueWrites(&pgx.Batch{}, w)
	s.queueLedger(b, before)
	if s.sync && b.Len() == 0 {
		b.Queue("UPDATE meta SET probes = probes + 1")
	}
	s.queueUnused(b)
	said := s.tx.PgConn().CustomData()
	delete(said, warning)
	var answer string
	b.Queue("COMMIT").Exec(func(tag pgconn.CommandTag) error {
		answer = tag.String()
		return nil
	})
	err := s.tx.SendBatch(s.ctx, b).Close()
	if err == nil && answer != "COMMIT" { // the answer after a statement that failed
		err = fmt.Errorf("commit: the server says %s", answer)
	}
	if text := said[warning]; err == nil && s.sync && text != nil {
		// A commit whose wait for a standby was cancelled says so, although it is committed.
		err = fmt.Errorf("commit: the server warns: %s", text)
		s.first = s.last + 1 // so that giveUp puts no version back
	}
	return err
}

// announce remembers what was given out, and tells this process and others what may be claimed now.
func (j *Journal) announce(tx *commit.Transaction) {
	for _, stamps := range tx.Delivered {
		j.given.remember(stamps)
	}
	wake := tx.Wake
	for _, n := range tx.Settled {
		if !n.Retried && !n.Newer {
			continue
		}
		// NotBefore is in the time of this process, and DeliveredAt in that of the server.
		now, wait := j.opt.Now(), commit.DeferralOf(n)
		wait.DeliveredAt = now.Add(n.DeliveredAt.Sub(tx.Now))
		if ends := wait.End(); ends.After(now) {
			j.idle.Arm(n.Kind, ends)
		} else {
			wake = true
		}
	}
	kinds := make([]report.Kind, 0, len(tx.Kinds))
	for k := range tx.Kinds {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	j.idle.Invalidate(kinds...)
	if wake {
		j.committed.Notify()
		j.idle.Changed.Notify()
		j.notify.tell(kinds...)
	}
}
