package sqlite

import (
	"context"
	"fmt"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// run carries out the requests of the queue, a group per transaction, until the queue is
// closed and empty. While the journal cannot accept deliveries, run tries whether it can
// again: an instance that is not ready gets none that would show it. When there is nothing
// to do, run checks the files and truncates the WAL.
func (j *Journal) run() {
	defer close(j.ended)
	for {
		timeout := measureEvery
		switch {
		case j.accepts() != nil:
			timeout = j.testWriteEvery
		case j.hasWAL:
			timeout = min(timeout, j.idleAfter)
		}
		group, open := j.queue.Next(time.After(timeout), j.claims.flush.news())
		if len(group) == 0 {
			_ = j.awaitFlush() // its group has its answer, and Ready shows the error
		}
		if !open {
			return
		}
		j.serve(group)
	}
}

// serve executes a group and answers every request of it. An empty group is a test write.
func (j *Journal) serve(group []*commit.Request) {
	if len(group) > 0 {
		j.served = time.Now()
	} else {
		j.testDisk() // so that a disk that hangs shows
	}
	for {
		j.quota.measureDisk()
		j.quota.judge()
		now, later := j.quota.admit(j.refuseIfMoved(group))
		if len(now) > 0 || len(group) == 0 {
			j.execute(now, len(later) == 0)
		}
		if len(later) == 0 {
			return
		}
		group = later
	}
}

// refuseIfMoved checks that the files are where they belong. While they are not, it refuses the
// deliveries of a group and returns the rest: what was acknowledged before is in the open
// files, and still reaches the index.
func (j *Journal) refuseIfMoved(group []*commit.Request) (rest []*commit.Request) {
	var err error
	if j.files != nil {
		err = j.files.checkMoved()
	}
	if err == nil {
		if j.moved.Swap(nil) != nil {
			j.opt.Log.Info("the files of the journal are back, and it accepts deliveries", "path", j.path)
		}
		return group
	}
	err = fmt.Errorf("the journal %s: %w", j.path, err)
	if j.moved.Swap(&err) == nil {
		j.opt.Log.Error("the journal accepts no deliveries: its files were moved, deleted or replaced while it runs", "path", j.path, "error", err)
	}
	for _, r := range group {
		if r.Quota != commit.NoQuota {
			r.Answer(err)
		} else {
			rest = append(rest, r)
		}
	}
	return rest
}

// execute executes a group, or a part of one. Only the last part may be joined by requests that came
// later.
func (j *Journal) execute(all []*commit.Request, last bool) {
	group := commit.DropLate(all, (*commit.Request).Late)
	if len(group) == 0 && len(all) > 0 {
		return
	}
	if j.distrusted && time.Now().Before(j.retryAt) {
		answer(group, *j.failure.Load())
		return
	}
	err, flushed := j.reopen(), false
	if err == nil && (len(group) > 0 || j.failure.Load() != nil) {
		group, flushed, err = j.commit(group, last)
	}
	switch {
	case err == nil:
		if j.failure.Swap(nil) != nil {
			j.opt.Log.Info("the journal can be written again", "path", j.path)
		}
		if err := j.lookAround(group); err != nil {
			j.stop(err)
		}
	case classify(err) == commit.FaultRequest && len(group) > 1:
		for i := range group {
			j.execute(group[i:i+1], last && i == len(group)-1)
		}
		return
	case classify(err) == commit.FaultRequest:
	default:
		err = j.stop(err)
	}
	if !flushed {
		answer(group, err)
	}
}

// lookAround checks the quotas once a group is committed. When there is nothing to do, it
// truncates the WAL, because damage can hide there: SQLite takes whatever follows a damaged
// part of the WAL for a transaction that was cut short.
func (j *Journal) lookAround(group []*commit.Request) error {
	if len(group) == 0 && j.hasWAL && time.Since(j.served) >= j.idleAfter {
		<-j.testDisk()
		if err := j.truncateWAL(context.Background()); err != nil {
			return err
		}
	}
	err := j.checkQuota(commit.BytesOf(group))
	j.hasWAL = j.quota.walBytes > 0
	return err
}

// stop notes why the journal cannot be written, and returns it.
func (j *Journal) stop(err error) error {
	if classify(err) == commit.FaultEngine && !j.distrusted {
		j.distrusted, j.recovered = true, false
		j.markSuspect(err)
	}
	if isFull(err) {
		err = fmt.Errorf("%w: the disk of %s is full; make room on it: %w", report.ErrNoRoom, j.path, err)
	} else {
		err = fmt.Errorf("the journal %s cannot be written: %w", j.path, err)
	}
	if j.failure.Load() == nil {
		j.opt.Log.Error("the journal accepts no deliveries", "path", j.path, "error", err)
	}
	j.fail(err)
	return err
}

// commit carries out a group, and the requests that join it, in one transaction. It returns
// all of them. After an error nothing has changed, neither in the database nor in memory,
// unless it is an error of syncing. flushed says that a flush is under way, which answers
// the group.
func (j *Journal) commit(group []*commit.Request, last bool) (all []*commit.Request, flushed bool, err error) {
	<-j.testDisk()
	if _, err := j.e.write.exec(begin); err != nil {
		return group, false, fmt.Errorf("begin a transaction: %w", err)
	}
	after := j.ledger.Begin()
	s := newStore(j.e, &after)
	tx := commit.NewTransaction(s, j.opt.Now(), &after)
	tx.Growth = j.Growth()
	if group, err = j.fill(tx, s, group, last); err == nil {
		err = s.finish(j.ledger)
	}
	if err == nil {
		err = j.awaitFlush()
	}
	if err != nil {
		return group, false, j.rollback(err)
	}

	j.claims.commit.Lock()
	defer j.claims.commit.Unlock()
	if _, err := j.e.write.exec(`COMMIT`); err != nil {
		return group, false, j.rollback(fmt.Errorf("commit: %w", err))
	}
	j.ledger = after
	j.claims.hold(after.Loss)
	j.claims.committed(tx)
	tx.Warn(j.opt.Log)
	switch {
	case !commit.NeedsSync(group):
		return group, false, nil
	case j.failure.Load() != nil: // only a write shows whether it can be written again
		j.beginFlush(nil)
		return group, false, j.awaitFlush()
	}
	j.beginFlush(group)
	return group, true, nil
}

// fill carries out a group, and then the requests that arrive while the disk still works on
// the group before: until that is done, nothing can be committed anyway.
func (j *Journal) fill(tx *commit.Transaction, s *store, group []*commit.Request, last bool) (all []*commit.Request, err error) {
	for more := group; len(more) > 0; {
		all = append(all, more...)
		tx.Now = j.opt.Now()
		s.now = tx.Now
		err := tx.Execute(more)
		if err == nil {
			err = tx.Flush()
		}
		if err != nil {
			return all, err
		}
		if more = nil; last {
			more = j.joining(all)
		}
	}
	if len(all) == 0 {
		if _, err := j.e.write.exec(`UPDATE meta SET value = value + 1 WHERE name = 'probes'`); err != nil {
			return all, fmt.Errorf("try to write: %w", err)
		}
	}
	return all, nil
}

// joining waits for requests while the disk works on the group before, and returns none once
// that has ended. Near a quota no request joins: each group is checked on its own.
func (j *Journal) joining(group []*commit.Request) []*commit.Request {
	if j.claims.flush == nil || j.quota.err() != nil || j.quota.mayExceedAfter(commit.MaxGroupBytes) {
		return nil
	}
	for {
		select {
		case <-j.claims.flush.done:
			return nil
		default:
		}
		if more, _ := j.queue.Take(group); len(more) > 0 {
			if more = commit.DropLate(more, (*commit.Request).Late); len(more) > 0 {
				return more
			}
			continue
		}
		select {
		case <-j.claims.flush.done:
		case <-j.queue.Wake:
		}
	}
}

const begin = `BEGIN IMMEDIATE`

// rollback ends a failed transaction and returns cause. Its own error does not matter where nothing can be
// trusted any more: after some errors SQLite has ended the transaction itself. Where only a request failed, it
// says that SQLite did so unseen, and that what came after it is in the table already.
func (j *Journal) rollback(cause error) error {
	if _, err := j.e.write.exec(`ROLLBACK`); err != nil && classify(cause) == commit.FaultRequest {
		return fmt.Errorf("undo what failed (%s): %w", cause.Error(), err)
	}
	return cause
}
