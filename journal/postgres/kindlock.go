package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// LockKind implements Journal.
func (j *Journal) LockKind(ctx context.Context, kind report.Kind) error {
	if err := report.CheckKind(kind); err != nil {
		return err
	}
	if err := j.closed(); err != nil {
		return err
	}
	had, me := j.member.wantLock(kind), j.member.me.Load()
	err := j.lockKind(ctx, kind, me)
	if err == nil {
		err = j.awaitOtherClaims(ctx, kind, me)
	}
	if err != nil {
		if !had {
			j.UnlockKind(kind)
		}
		return fmt.Errorf("have %s alone in the journal: %w", kind, err)
	}
	return nil
}

// wantLock notes that the lock of a kind is wanted, so that it is not given back, and reports
// whether it was wanted before.
func (m *member) wantLock(kind report.Kind) (had bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	had = m.locks[kind]
	m.locks[kind] = true
	return had
}

// lockKind becomes the holder of a kind.
func (j *Journal) lockKind(ctx context.Context, kind report.Kind, me int64) error {
	m := &j.member
	var generation int64
	ctx, cancel := context.WithTimeout(ctx, j.pace.group) // of a standby that is away
	defer cancel()
	err := j.inLasting(ctx, "on", func(tx pgx.Tx) error {
		// One that was taken for dead would keep it for ever.
		if err := tx.QueryRow(ctx, "SELECT FROM processes WHERE id = $1 FOR SHARE", me).Scan(); errors.Is(err, pgx.ErrNoRows) {
			return errTakenForDead
		} else if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, $2)", j.keys.class, lockOf(lockKinds, kind)); err != nil {
			return err
		}
		var holder int64
		if err := tx.QueryRow(ctx, "SELECT holder, generation FROM holds WHERE kind = $1 FOR UPDATE", string(kind)).Scan(&holder, &generation); err != nil {
			return err
		}
		if holder == me {
			return nil
		}
		if !m.seesGeneration(kind, generation) || holder != 0 {
			return report.ErrKindLocked
		}
		generation++
		_, err := tx.Exec(ctx, "UPDATE holds SET holder = $2, generation = $3 WHERE kind = $1", string(kind), me, generation)
		return err
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[kind] = generation
	return nil
}

// seesGeneration notes the generation of a kind's lock, and reports whether this process knew
// it. The first generation counts as known: the process knows nothing of an index yet.
func (m *member) seesGeneration(kind report.Kind, generation int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.known[kind]
	m.known[kind] = generation
	return !ok || known == generation
}

// awaitOtherClaims waits until no other process has a claim of a kind.
func (j *Journal) awaitOtherClaims(ctx context.Context, kind report.Kind, me int64) error {
	for {
		var others, mine bool
		err := j.pool.QueryRow(ctx, commit.SQL(`SELECT EXISTS (SELECT FROM documents WHERE kind = $1 AND {waits} AND holder > 0 AND holder <> $2 AND claimed <> 0),
			EXISTS (SELECT FROM holds WHERE kind = $1 AND holder = $2)`), string(kind), me).Scan(&others, &mine)
		switch {
		case err != nil:
			return err
		case !mine:
			return report.ErrKindLocked // it was taken for dead meanwhile
		case !others:
			return nil
		}
		if commit.Sleep(ctx, 50*time.Millisecond) != nil {
			return ctx.Err()
		}
	}
}

// LockVerify implements Journal. The lock belongs to a connection and ends with it.
func (j *Journal) LockVerify(ctx context.Context, kind report.Kind) (done func(), err error) {
	if err := j.closed(); err != nil {
		return nil, err
	}
	conn, err := j.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock %s for a verification: %w", kind, err)
	}
	id := lockOf(lockVerify, kind)
	var free bool
	if err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, $2)", j.keys.class, id).Scan(&free); err != nil || !free {
		conn.Release()
		if err == nil {
			err = report.ErrVerifying
		}
		return nil, fmt.Errorf("lock %s for a verification: %w", kind, err)
	}
	return sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_unlock($1, $2)", j.keys.class, id); err != nil {
			_ = conn.Conn().Close(ctx)
		}
		conn.Release()
	}), nil
}

// UnlockKind implements Journal.
func (j *Journal) UnlockKind(kind report.Kind) {
	m := &j.member
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.locks, kind)
	m.heartbeatNow.Notify()
}

// unlockUnwanted gives back the locks that are not wanted any longer.
func (j *Journal) unlockUnwanted(ctx context.Context) error {
	m, me := &j.member, j.member.me.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	wanted := []string{}
	for k := range m.locks {
		wanted = append(wanted, string(k))
	}
	var kinds []report.Kind
	err := j.inTransaction(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "UPDATE holds SET holder = 0, generation = generation + 1 WHERE holder = $1 AND kind <> ALL($2) RETURNING kind, generation", me, wanted)
		if err != nil {
			return err
		}
		var kind string
		var generation int64
		_, err = pgx.ForEachRow(rows, []any{&kind, &generation}, func() error {
			m.known[report.Kind(kind)] = generation
			kinds = append(kinds, report.Kind(kind))
			return nil
		})
		return err
	})
	if len(kinds) > 0 {
		j.notify.tell(kinds...)
	}
	return err
}

// lockOf returns the number of the lock of a kind, in the range that begins with first.
func lockOf(first int32, kind report.Kind) int32 {
	return first + int32(slices.Index(report.AllKinds(), kind))
}
