package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"riskdex/report"
)

// SQLite is the journal in one SQLite file, for one process. OpenSQLite makes
// one.
type SQLite struct {
	path   string
	opt    Options
	lock   *os.File
	queue  *queue
	claims *claims
	ended  chan struct{} // closed when run has returned
	close  func() error  // runs once

	open      context.Context // ends with Close, which does not wait for a long copy
	endCopies context.CancelFunc

	// Owned by the goroutine of run.
	room       *room
	witness    *witness
	ledger     ledger
	distrusted bool
	retryAt    time.Time // before it, a distrusted file is left alone
	probeEvery time.Duration
	idleAfter  time.Duration
	logged     bool // the log is not empty

	failure atomic.Pointer[error] // why it cannot be written; nil when it can

	mu     sync.RWMutex // held for reading while e is in use for reading
	e      *engine      // nil when it could not be opened again, and after Close
	closed bool
}

var _ Journal = (*SQLite)(nil)

// OpenSQLite opens the journal in the file path, and creates it and its folder if
// they do not exist. The caller closes it. ctx is for opening only.
func OpenSQLite(ctx context.Context, path string, opt Options) (*SQLite, error) {
	j, err := openSQLite(ctx, path, opt.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("open the journal %s: %w", path, err)
	}
	go j.run()
	return j, nil
}

func openSQLite(ctx context.Context, path string, opt Options) (*SQLite, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	if err := mend(ctx, path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := createFile(path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	j := &SQLite{
		path: path, opt: opt, lock: lock,
		queue: newQueue(), claims: newClaims(opt.Now), room: newRoom(path, opt),
		ended: make(chan struct{}), probeEvery: time.Second, idleAfter: 5 * time.Second,
	}
	j.close = sync.OnceValue(j.shutDown)
	j.open, j.endCopies = context.WithCancel(context.WithoutCancel(ctx))
	if j.e, err = openEngine(ctx, path); err != nil {
		return nil, errors.Join(restoreHint(err), lock.Close())
	}
	if j.ledger, err = j.e.load(ctx); err == nil {
		err = j.watchRoom(0)
	}
	if err == nil {
		j.witness, err = openWitness(path)
	}
	if err != nil {
		return nil, errors.Join(restoreHint(err), j.e.close(), lock.Close())
	}
	j.compareWitness()
	j.claims.signal()
	return j, nil
}

// Append implements Journal.
func (j *SQLite) Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error) {
	start := time.Now()
	if err := checkDelivery(d); err != nil {
		return nil, err
	}
	need := needOf(d)
	if short := j.room.short.Load(); short.refuses(need) {
		return nil, fmt.Errorf("append a delivery of %d changes to the journal: %w", len(d.Changes), short.err)
	}
	size := 0
	for _, c := range d.Changes {
		size += len(c.Body)
	}
	for _, r := range d.Refusals {
		size += min(len(r.Body), MaxRefusalBody)
	}
	if d.Receipt != nil {
		size += len(d.Receipt.Answer)
	}
	var stamps []report.Stamp
	var before error // the delivery was there before
	err := j.queue.do(ctx, &request{bytes: size, sync: true, need: need, run: func(tx *transaction) (err error) {
		if err := j.room.err(); err != nil {
			if d.RetryOf != 0 {
				return err // what it retries is kept for now
			}
			d.Refusals = nil // they are a help; not to keep them harms nobody
		}
		// It is no error of the transaction, which others share.
		if before, err = tx.receive(d.Receipt); before != nil || err != nil {
			return err
		}
		stamps, err = tx.append(d, j.opt)
		return err
	}})
	if err == nil {
		err = before
	}
	if err != nil {
		return nil, fmt.Errorf("append a delivery of %d changes to the journal: %w", len(d.Changes), err)
	}
	j.opt.Observe(time.Since(start).Seconds())
	return stamps, nil
}

// Settle implements Journal.
func (j *SQLite) Settle(ctx context.Context, s []report.Settlement) error {
	if err := checkSettlements(s); err != nil {
		return err
	}
	err := j.queue.do(ctx, &request{run: func(tx *transaction) error { return tx.settle(s) }})
	if err != nil {
		return fmt.Errorf("settle %d changes in the journal: %w", len(s), err)
	}
	return nil
}

// Resend implements Journal.
func (j *SQLite) Resend(ctx context.Context, kind report.Kind) (int, error) {
	if err := report.CheckKind(kind); err != nil {
		return 0, err
	}
	return j.resend(ctx, kind, func(tx *transaction) (sql.Result, error) {
		return tx.st.resend.ExecContext(tx.ctx, string(kind))
	})
}

// ResendDeleted implements Journal.
func (j *SQLite) ResendDeleted(ctx context.Context, kind report.Kind, since time.Time) (int, error) {
	if err := report.CheckKind(kind); err != nil {
		return 0, err
	}
	return j.resend(ctx, kind, func(tx *transaction) (sql.Result, error) {
		return tx.st.resendDeleted.ExecContext(tx.ctx, string(kind), since.UnixMicro())
	})
}

func (j *SQLite) resend(ctx context.Context, kind report.Kind, mark func(*transaction) (sql.Result, error)) (int, error) {
	var n int
	err := j.queue.do(ctx, &request{sync: true, run: func(tx *transaction) (err error) {
		n, err = tx.resend(kind, mark)
		return err
	}})
	if err != nil {
		return 0, fmt.Errorf("mark documents of %s to be sent again: %w", kind, err)
	}
	return n, nil
}

// Changed implements Journal.
func (j *SQLite) Changed() <-chan struct{} { return j.claims.changed }

// Ready implements Journal.
func (j *SQLite) Ready() error {
	if err := j.failure.Load(); err != nil {
		return *err
	}
	return j.room.err()
}

// Close implements Journal.
func (j *SQLite) Close() error { return j.close() }

func (j *SQLite) shutDown() error {
	j.endCopies()
	j.queue.close()
	<-j.ended
	j.claims.close()
	j.fail(ErrClosed)

	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	var err error
	if j.e != nil {
		err = j.e.close()
		j.e = nil
	}
	if err = errors.Join(err, j.witness.close(), j.lock.Close()); err != nil {
		return fmt.Errorf("close the journal %s: %w", j.path, err)
	}
	return nil
}

func (j *SQLite) fail(err error) { j.failure.Store(&err) }

// read calls f with the open engine, which stays open until f returns.
func (j *SQLite) read(f func(*engine) error) error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	switch {
	case j.closed:
		return ErrClosed
	case j.e == nil:
		return j.Ready()
	}
	return f(j.e)
}
