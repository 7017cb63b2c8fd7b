package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// tryClaim implements commit.Hooks.Claim.
func (j *Journal) tryClaim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) (t commit.Taking, err error) {
	if err := j.closed(); err != nil {
		return t, err
	}
	if maxChanges > 0 && j.idle.IsIdle(kind) {
		return t, nil
	}
	t, err = j.claim(ctx, kind, maxChanges, maxBytes)
	if errors.Is(err, errNotCompared) {
		return commit.Taking{Missed: true}, j.compareServer(ctx)
	}
	return t, err
}

// candidate is a row that is locked and may be claimed.
type candidate struct {
	id    []byte
	bytes int64
}

// lockedRows is what a Claim has locked and seen before it decides.
type lockedRows struct {
	alive      bool // this process is a member
	holder     int64
	generation int64
	server     string              // thisServer
	free       map[int][]candidate // by state
}

// claim gives out what can be claimed, in two round trips: the first locks rows and returns
// their sizes, the second claims those that fit and returns their bodies.
func (j *Journal) claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) (t commit.Taking, err error) {
	j.reading.Lock()
	defer j.reading.Unlock()
	ctx, cancel := context.WithTimeout(ctx, j.pace.group) // in case the server is gone
	defer cancel()
	if j.uncertain {
		if err := j.giveBackClaims(ctx); err != nil {
			return t, err
		}
		j.uncertain = false
	}
	nothing := false
	j.idle.BeginLookup(kind)
	defer func() { j.idle.EndLookup(nothing) }()

	conn, err := j.pool.Acquire(ctx)
	if err != nil {
		return t, err
	}
	defer conn.Release()
	me := j.member.me.Load()
	seen, err := j.lockCandidates(ctx, conn.Conn(), me, kind, max(maxChanges, 0))
	if err == nil {
		err = j.mayClaim(kind, me, seen)
	}
	var ids [][]byte
	if err == nil {
		ids = choose(seen.free, j.order.Next(kind), int64(maxBytes))
	}
	if err == nil && len(ids) == 0 && maxChanges > 0 {
		var wait *int64
		if wait, err = j.nextDue(ctx, conn.Conn(), kind); wait != nil {
			j.idle.Arm(kind, j.opt.Now().Add(time.Duration(*wait)*time.Microsecond))
		}
		nothing = err == nil && wait == nil
	}
	if err != nil || len(ids) == 0 {
		rollback(conn.Conn())
		return t, err
	}
	if t, err = takeClaims(ctx, conn.Conn(), me, kind, ids); err != nil {
		j.uncertain = true
		rollback(conn.Conn())
		return t, err
	}
	j.order.Gave(kind, t.Changes)
	return t, nil
}

// rollback ends a transaction that has changed nothing.
func rollback(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = conn.Close(ctx)
	}
}

func (j *Journal) lockCandidates(ctx context.Context, conn *pgx.Conn, me int64, kind report.Kind, limit int) (seen lockedRows, err error) {
	at := j.clock.now()
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	// A claim need not be durable: a crash of the server gives it back, or giveBackClaims
	// does.
	b.Queue("SET LOCAL synchronous_commit = off")
	// Until the claims are visible, these two keep others from locking the kind and from
	// taking this process for dead. Later statements see what others did before.
	b.Queue("SELECT pg_advisory_xact_lock_shared($1, $2), pg_advisory_xact_lock_shared($1, $3)", j.keys.class, lockOf(lockKinds, kind), lockMembers+int32(me))
	b.Queue("SELECT EXISTS (SELECT FROM processes WHERE id = $1 AND connections = $3), holder, generation, "+thisServer+" FROM holds WHERE kind = $2", me, string(kind), j.member.connections).
		QueryRow(func(r pgx.Row) error { return r.Scan(&seen.alive, &seen.holder, &seen.generation, &seen.server) })
	seen.free = map[int][]candidate{}
	for _, state := range []int{commit.StatePending, commit.StateResend} {
		b.Queue(fmt.Sprintf(`SELECT id, coalesce(length(body), 0) FROM documents
			WHERE kind = $1 AND state = %d AND version > `+commit.HeldUntil+` AND (holder <= 0 OR claimed = 0) AND `+dueAt+` <= `+serverTime("$3")+`
			ORDER BY waiting_since, version, id LIMIT $2 FOR UPDATE SKIP LOCKED`, state), string(kind), limit, at).
			Query(func(rows pgx.Rows) (err error) {
				seen.free[state], err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (c candidate, err error) {
					err = r.Scan(&c.id, &c.bytes)
					return c, err
				})
				return err
			})
	}
	return seen, conn.SendBatch(ctx, b).Close()
}

// dueAt is when a document may be claimed, as it says in free_at; see
// report.Settlement.NotBefore.
var dueAt = fmt.Sprintf("CASE WHEN free_at < 0 THEN least(-free_at, accepted_at + %d) ELSE free_at END", report.Debounce.Microseconds())

// nextDue returns in how many microseconds the next deferred document is due, nil if there is
// none. It reads all documents that are not settled, so it is called only when none of them
// can be claimed: then they are few.
func (j *Journal) nextDue(ctx context.Context, conn *pgx.Conn, kind report.Kind) (wait *int64, err error) {
	err = conn.QueryRow(ctx, commit.SQL("SELECT min(at) - min(now) FROM (SELECT "+dueAt+" AS at, "+serverTime("$2")+" AS now"+`
			FROM documents WHERE kind = $1 AND {waits} AND version > `+commit.HeldUntil+`) AS waiting WHERE at > now`),
		string(kind), j.clock.now()).Scan(&wait)
	return wait, err
}

// mayClaim returns report.ErrKindLocked while another process has locked the kind, and once after
// that; and an error while this process is taken for dead, or a restart of the server is not accounted for.
func (j *Journal) mayClaim(kind report.Kind, me int64, seen lockedRows) error {
	switch {
	case !j.given.isCompared(seen.server):
		return errNotCompared
	case !seen.alive:
		j.member.heartbeatNow.Notify() // to be registered anew
		return errTakenForDead
	case seen.holder == me:
		return nil
	case !j.given.sees(kind, seen.server):
		return errStartedAnew
	case !j.member.seesGeneration(kind, seen.generation) || seen.holder != 0:
		return report.ErrKindLocked
	}
	return nil
}

// choose returns the ids of what is given out, in order and within maxBytes: of the documents in
// the first state that has any.
func choose(free map[int][]candidate, states [2]int, maxBytes int64) (ids [][]byte) {
	chosen := free[states[0]]
	if len(chosen) == 0 {
		chosen = free[states[1]]
	}
	b := commit.NewBudget(maxBytes)
	for _, c := range chosen {
		if c.bytes > b.Limit() {
			break
		}
		b.Take(c.bytes)
		ids = append(ids, c.id)
	}
	return ids
}

// takeClaims claims rows that are locked, and verifies them.
func takeClaims(ctx context.Context, conn *pgx.Conn, me int64, kind report.Kind, ids [][]byte) (t commit.Taking, err error) {
	index := map[string]int{}
	for i, id := range ids {
		index[string(id)] = i
	}
	all, intact := make([]report.Change, len(ids)), make([]bool, len(ids))
	b := &pgx.Batch{}
	b.Queue(`UPDATE documents SET holder = $1, claimed = version, free_at = 0 WHERE kind = $2 AND id = ANY($3)
		RETURNING `+tables.ContentColumns+`, state, trace`, me, string(kind), ids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var state tables.Int
			var trace tables.Text
			c, ok, err := tables.ScanContent(rows.Scan, &state, &trace)
			if err != nil {
				return err
			}
			c.Resent, c.Trace = state == commit.StateResend, string(trace)
			i := index[string(c.ID)]
			all[i], intact[i] = c, ok
		}
		return rows.Err()
	})
	b.Queue("COMMIT")
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return t, err
	}
	for i, c := range all {
		if intact[i] {
			t.Changes = append(t.Changes, c)
		} else {
			t.Damaged = append(t.Damaged, commit.Damaged{Stamp: report.Stamp{Key: c.Key, Version: c.Version}})
		}
	}
	return t, nil
}
