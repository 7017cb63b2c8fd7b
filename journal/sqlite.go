package journal

import (
	"context"
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
	requests
	path   string
	lock   *os.File
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

	verifying sync.Map              // the kinds that are
	failure   atomic.Pointer[error] // why it cannot be written; nil when it can

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
		path: path, lock: lock, claims: newClaims(opt.Now), room: newRoom(path, opt),
		ended: make(chan struct{}), probeEvery: time.Second, idleAfter: 5 * time.Second,
	}
	j.requests = requests{opt: opt, queue: newQueue(), lacks: j.lacks, held: j.claims.of, contents: j.contents}
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
	j.claims.changed.ring()
	return j, nil
}

// lacks tells whether there is room for what needs it.
func (j *SQLite) lacks(n need) error {
	if short := j.room.short.Load(); short.refuses(n) {
		return short.err
	}
	return nil
}

// Changed implements Journal.
func (j *SQLite) Changed() <-chan struct{} { return j.claims.changed }

// Hold implements Journal.
func (j *SQLite) Hold(_ context.Context, kind report.Kind) error {
	if j.isClosed() {
		return ErrClosed
	}
	return report.CheckKind(kind)
}

// LockVerify implements Journal.
func (j *SQLite) LockVerify(_ context.Context, kind report.Kind) (done func(), err error) {
	if j.isClosed() {
		return nil, ErrClosed
	}
	if _, taken := j.verifying.LoadOrStore(kind, true); taken {
		return nil, report.ErrVerifying
	}
	return sync.OnceFunc(func() { j.verifying.Delete(kind) }), nil
}

// Release implements Journal.
func (j *SQLite) Release(report.Kind) {}

func (j *SQLite) isClosed() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.closed
}

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
