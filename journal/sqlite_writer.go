package journal

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// run carries out the requests of the queue, a group per transaction, until the
// queue is closed and empty. While the journal cannot accept, it tries on its own
// whether it can again: an instance that is not ready gets no deliveries.
func (j *SQLite) run() {
	defer close(j.ended)
	for {
		var timeout <-chan time.Time
		if j.Ready() != nil {
			timeout = time.After(j.probeEvery)
		}
		group, open := j.queue.next(timeout)
		if !open {
			return
		}
		j.serve(group)
	}
}

// serve carries out a group and answers every request of it. An empty group is a
// probe.
func (j *SQLite) serve(group []*request) {
	err := j.reopen()
	if err == nil {
		err = j.commit(group)
	}
	switch {
	case err == nil:
		if j.failure.Swap(nil) != nil {
			j.opt.Log.Info("the journal accepts deliveries again", "path", j.path)
		}
	case classify(err) == faultRequest && len(group) > 1:
		for i := range group {
			j.serve(group[i : i+1])
		}
		return
	case classify(err) == faultRequest:
	default:
		j.distrusted = j.distrusted || classify(err) == faultEngine
		err = fmt.Errorf("the journal %s cannot be written: %w", j.path, err)
		if j.Ready() == nil {
			j.opt.Log.Error("the journal accepts no deliveries", "path", j.path, "error", err)
		}
		j.fail(err)
	}
	for _, r := range group {
		r.done <- err
	}
}

// reopen replaces a distrusted engine by a new one and loads the ledger again:
// the transaction that failed may be in the file after all.
func (j *SQLite) reopen() error {
	if !j.distrusted {
		return nil
	}
	ctx := context.Background()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.e != nil {
		if err := j.e.close(); err != nil {
			j.opt.Log.Warn("the failed database did not close cleanly", "path", j.path, "error", err)
		}
		j.e = nil
	}
	e, err := openEngine(ctx, j.path)
	if err != nil {
		return fmt.Errorf("open it again: %w", err)
	}
	err = e.distrust(ctx)
	var l ledger
	if err == nil {
		l, err = e.load(ctx)
	}
	if err != nil {
		return errors.Join(err, e.close())
	}
	j.e, j.ledger, j.distrusted = e, l, false
	j.claims.signal()
	return nil
}

// commit carries out a group in one transaction. On an error nothing of it has
// happened, in the database as in memory.
func (j *SQLite) commit(group []*request) error {
	ctx := context.Background()
	if err := j.e.setSync(ctx, needsSync(group)); err != nil {
		return err
	}
	if _, err := j.e.st.begin.ExecContext(ctx); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	tx := newTransaction(j.e, j.opt.Now(), j.ledger)
	if err := j.fill(tx, group); err != nil {
		return j.rollback(err)
	}

	j.claims.commit.Lock()
	defer j.claims.commit.Unlock()
	if _, err := j.e.st.commit.ExecContext(ctx); err != nil {
		return j.rollback(fmt.Errorf("commit: %w", err))
	}
	j.ledger = tx.ledger
	j.claims.committed(tx.touched, tx.settled)
	if tx.wake {
		j.claims.signal()
	}
	return nil
}

func needsSync(group []*request) bool {
	for _, r := range group {
		if r.sync {
			return true
		}
	}
	return len(group) == 0
}

func (j *SQLite) fill(tx *transaction, group []*request) error {
	for _, r := range group {
		if err := r.run(tx); err != nil {
			return err
		}
	}
	if len(group) == 0 {
		if _, err := j.e.st.probe.ExecContext(context.Background()); err != nil {
			return fmt.Errorf("try to write: %w", err)
		}
	}
	return tx.finish(j.ledger)
}

// rollback ends a failed transaction and returns cause. That it fails is no news:
// SQLite ends a transaction itself after some errors. Where one is still open,
// the next BEGIN fails, and that is a fault of the engine.
func (j *SQLite) rollback(cause error) error {
	_, _ = j.e.st.rollback.ExecContext(context.Background())
	return cause
}
