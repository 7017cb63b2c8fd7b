package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// member is what this process is among those that work on the journal.
type member struct {
	connections string       // the name of its connections, which no other process uses
	me          atomic.Int64 // its id; a new one after it was taken for dead

	mu           sync.Mutex
	known        map[report.Kind]int64 // generations of the locks of kinds, as far as this process has seen them
	locks        map[report.Kind]bool  // that it wants to have
	heartbeatNow commit.Signal         // triggers the next heartbeat

	heard, judges time.Time // when it last reached the journal, and from when on it may take others for dead
}

// register makes this process a member, under a new id.
func (j *Journal) register(ctx context.Context, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}) error {
	var id int64
	err := q.QueryRow(ctx, "INSERT INTO processes (name, connections, alive_until) VALUES ($1, $4, "+serverTime("$2")+" + $3) RETURNING id",
		journal.ProcessName(), j.clock.now(), j.pace.lease.Microseconds(), j.member.connections).Scan(&id)
	if err != nil {
		return fmt.Errorf("become one of its processes: %w", err)
	}
	m := &j.member
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.heartbeatNow == nil {
		m.heartbeatNow = commit.NewSignal()
	}
	if m.known == nil {
		m.known = map[report.Kind]int64{} // and what it knew it still knows: another may have had a kind meanwhile
	}
	m.locks = map[report.Kind]bool{}
	m.me.Store(id)
	return nil
}

// heartbeat renews the lease of this process, ends the leases of dead ones, and has Claim
// look for changes that no notification told of.
func (j *Journal) heartbeat(ctx context.Context) {
	ticker := time.NewTicker(j.pace.heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.member.heartbeatNow:
		case <-ticker.C:
			j.idle.InvalidateAll()
		}
		attempt, cancel := context.WithTimeout(ctx, j.pace.lease/3)
		err := j.renewLease(attempt)
		cancel()
		if err != nil && ctx.Err() == nil {
			j.opt.Log.Debug("cannot give the journal a sign of life", "error", err)
			j.tryWrite(ctx)
		}
	}
}

// tryWrite has the writer try a write, so that Ready is right even while there are no
// deliveries.
func (j *Journal) tryWrite(ctx context.Context) {
	if j.failure.Load() != nil {
		return // the writer tries by itself
	}
	attempt, cancel := context.WithTimeout(ctx, j.pace.lease/3)
	defer cancel()
	_ = j.queue.Do(attempt, &commit.Request{Sync: true})
}

// renewLease renews the lease of this process, which registers anew if it was taken for dead.
func (j *Journal) renewLease(ctx context.Context) error {
	there := false
	err := j.CheckGiven(ctx, j.given.all())
	if err == nil {
		err = j.inTransaction(ctx, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, "UPDATE processes SET alive_until = "+serverTime("$2")+" + $3 WHERE id = $1 AND connections = $4",
				j.member.me.Load(), j.clock.now(), j.pace.lease.Microseconds(), j.member.connections)
			there = tag.RowsAffected() > 0
			return err
		})
	}
	if err == nil && !there {
		// A server that forgot it would give the same id once more.
		err = j.inLasting(ctx, "local", func(tx pgx.Tx) error { return j.register(ctx, tx) })
	}
	if err != nil {
		return err
	}
	if !there {
		j.opt.Log.Warn("this process was taken for dead, because the journal heard nothing of it for a while; what it had claimed is sent by others")
		j.idle.InvalidateAll()
	}
	if err := j.unlockUnwanted(ctx); err != nil {
		return err
	}
	if j.member.mayJudge(time.Now(), j.pace.lease) {
		if err := j.reap(ctx); err != nil {
			return err
		}
	}
	_, err = j.measure(ctx)
	return err
}

// mayJudge notes that this process has reached the journal, and reports whether it may take
// others for dead. After it could not reach the journal for a while, it waits for the length
// of a lease: what kept it away, such as a failover, has kept the others away, too.
func (m *member) mayJudge(now time.Time, lease time.Duration) bool {
	if now.Sub(m.heard) > lease/2 {
		m.judges = now.Add(lease)
	}
	m.heard = now
	return !now.Before(m.judges)
}

// reap removes the processes whose lease has ended, and releases their claims. Their
// settlements no longer count.
func (j *Journal) reap(ctx context.Context) error {
	var dead, connections []string
	err := j.inTransaction(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "DELETE FROM processes WHERE alive_until < "+serverTime("$2")+" AND id <> $1 RETURNING id, name, connections", j.member.me.Load(), j.clock.now())
		if err != nil {
			return err
		}
		var id int64
		var name, called string
		var ids []int64
		dead, connections = nil, nil
		if _, err := pgx.ForEachRow(rows, []any{&id, &name, &called}, func() error {
			ids, dead, connections = append(ids, id), append(dead, name), append(connections, called)
			return nil
		}); err != nil || len(ids) == 0 {
			return err
		}
		// A connection that was cut, or stopped, within a transaction keeps what that has
		// locked.
		if _, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user
			AND application_name = ANY($1) AND clock_timestamp() - xact_start > $2`, connections, j.pace.lease/2); err != nil {
			return err
		}
		slices.Sort(ids)
		for _, id := range ids { // until what it is just claiming is claimed
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, $2)", j.keys.class, lockMembers+int32(id)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, commit.SQL("UPDATE documents SET holder = -1, claimed = 0, free_at = 0 WHERE {waits} AND holder = ANY($1)"), ids); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE holds SET holder = 0, generation = generation + 1 WHERE holder = ANY($1)", ids)
		return err
	})
	if err != nil || len(dead) == 0 {
		return err
	}
	j.opt.Log.Warn("processes gave no sign of life; what they had claimed is sent by others", "processes", dead)
	j.idle.InvalidateAll()
	j.notify.tell(report.AllKinds()...)
	return nil
}

// leave gives everything back at once.
func (j *Journal) leave(ctx context.Context) error {
	me := j.member.me.Load()
	err := j.inTransaction(ctx, func(tx pgx.Tx) error {
		for _, query := range []string{
			commit.SQL("UPDATE documents SET holder = 0, claimed = 0, free_at = 0 WHERE {waits} AND holder = $1"),
			"UPDATE holds SET holder = 0, generation = generation + 1 WHERE holder = $1",
			"DELETE FROM processes WHERE id = $1",
		} {
			if _, err := tx.Exec(ctx, query, me); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = j.pool.Exec(ctx, "SELECT pg_notify($1, $2)", j.keys.channel, notice(me, report.AllKinds()))
	}
	return err
}

// giveBackClaims releases all claims of this process. The server may have been restarted or replaced:
// settlements do not wait for the disk, so it may have lost one and still have its claim, which nobody would
// settle as long as this process lives. Or the answer to a Claim was lost, which may have claimed something.
// Changes that are under way are given out again. Their late settlements are ignored: they may be about an
// index that another process has replaced meanwhile, since that need not wait for released claims (see
// LockKind).
func (j *Journal) giveBackClaims(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, j.pace.group)
	defer cancel()
	if err := j.inTransaction(ctx, func(tx pgx.Tx) error {
		me := j.member.me.Load()
		// until what it is just claiming is claimed
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, $2)", j.keys.class, lockMembers+int32(me)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, commit.SQL("UPDATE documents SET holder = -1, claimed = 0 WHERE {waits} AND holder = $1 AND claimed <> 0"), me)
		return err
	}); err != nil {
		return fmt.Errorf("give back what was claimed: %w", err)
	}
	j.idle.InvalidateAll()
	j.notify.tell(report.AllKinds()...)
	return nil
}

// measure notes whether the journal has reached its limit, and returns commit.OverOf what it uses.
func (j *Journal) measure(ctx context.Context) (over int64, err error) {
	if j.opt.MaxBytes <= 0 {
		return 0, nil
	}
	_, used, err := tableBytes(ctx, j.pool)
	if err != nil {
		return 0, err
	}
	if err := commit.CheckUsed("the journal in PostgreSQL", used, j.opt.MaxBytes, j.full.Load() != nil); err != nil {
		j.full.Store(&err)
	} else {
		j.full.Store(nil)
	}
	return commit.OverOf(used, j.opt.MaxBytes), nil
}

// errTakenForDead is why a process is given nothing until it is a member again.
var errTakenForDead = errors.New("this process was taken for dead; it takes part again in a moment")
