// Package sqlite is the journal in one SQLite file, for one process.
//
// One goroutine writes, one transaction per group of requests (writer.go), which loads rows (find.go) and
// flushes them (store.go). The disk syncs the write-ahead log (WAL) while the next group fills (flush.go).
// Claims are read and decided in claim.go, and kept in memory (claims.go). watermark.go, identity.go, rewrite.go and restore.go explain the files beside the
// journal.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// Journal is the journal in one SQLite file, for one process. Open makes
// one.
type Journal struct {
	commit.Requests
	*tables.Reader
	opt     journal.Options
	queue   *commit.Queue
	path    string
	lineage string
	fileID  string // of what is open; owned by the goroutine of run
	lock    *os.File
	claims  *claims
	durable commit.Broadcast // told with every flush
	ended   chan struct{}    // closed when run has returned
	close   func() error     // runs once

	open      context.Context // ends with Close, which does not wait for a long copy
	endCopies context.CancelFunc

	background sync.WaitGroup // ends with open

	// Owned by the goroutine of run.
	quota          *quota
	files          *files    // nil while they could not be opened again
	served         time.Time // when requests were last carried out
	watermark      *watermark
	ledger         commit.Ledger
	distrusted     bool
	recovered      bool      // a distrusted file was opened anew since
	retryAt        time.Time // before it, a distrusted file is left alone
	testWriteEvery time.Duration
	idleAfter      time.Duration
	hasWAL         bool // the WAL is not empty

	deflated atomic.Int64 // the last entry of the history that was looked at to compress it

	diskTesting sync.Mutex
	diskTest    <-chan struct{} // closed when the test under way has ended; nil when there is none

	verifying sync.Map              // the kinds that are
	moved     atomic.Pointer[error] // why files are not where they belong; nil when they are
	failure   atomic.Pointer[error] // why it cannot be written; nil when it can

	mu     sync.RWMutex // held for reading while e is in use for reading
	e      *engine      // nil when it could not be opened again, and after Close
	closed bool
}

var _ journal.Journal = (*Journal)(nil)

// Open opens the journal in the file path, and creates it, but not its
// folder, if it does not exist. The caller closes it. ctx is for opening only.
func Open(ctx context.Context, path string, opt journal.Options) (*Journal, error) {
	j, err := open(ctx, path, commit.WithDefaults(opt))
	if err != nil {
		return nil, fmt.Errorf("open the journal %s: %w", path, whyNoFile(path, err))
	}
	go j.run()
	j.background.Go(func() { j.claims.idle.Run(j.open) })
	requests := j.Requests
	j.background.Go(func() { requests.DropDeletedRegularly(j.open, j.giveBack) })
	j.background.Go(func() { requests.KeepHistoryBounded(j.open, j.deflateHistory) })
	return j, nil
}

func open(ctx context.Context, path string, opt journal.Options) (*Journal, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	if err := recoverFiles(ctx, path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := createFile(path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	j := &Journal{
		path: path, lock: lock, claims: newClaims(opt.Now), quota: newQuota(path, opt),
		ended: make(chan struct{}), testWriteEvery: time.Second, idleAfter: 5 * time.Second,
	}
	j.opt, j.queue = opt, commit.NewQueue()
	j.Reader = tables.NewReader(tables.SQLite, tables.Hooks{
		Read:     func(f func(tables.Querier) error) error { return j.read(func(e *engine) error { return f(e.readers) }) },
		Snapshot: j.inSnapshot, Long: j.inLongSnapshot, IsCorrupt: isCorrupt,
		Open: func() context.Context { return j.open },
	})
	j.Requests = commit.NewRequests(opt, j.queue, commit.Hooks{CheckQuota: j.quotaError, Over: j.over, Claim: j.tryClaim, Claimed: j.claims.of, Contents: j.Contents, Lost: j.lost})
	j.close = sync.OnceValue(j.shutDown)
	j.open, j.endCopies = context.WithCancel(context.WithoutCancel(ctx))
	if j.watermark, err = openWatermark(path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	withoutWAL, err := j.openFile(ctx)
	if err != nil {
		return nil, errors.Join(restoreHint(err), j.watermark.close(), lock.Close())
	}
	if j.lineage, err = readLineage(ctx, j.e.write.Conn); err == nil {
		err = j.checkQuota(0)
	}
	if err == nil {
		err = j.compareWatermark(ctx, withoutWAL)
	}
	if err == nil {
		err = j.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(restoreHint(err), j.e.close(), j.files.close(), j.watermark.close(), lock.Close())
	}
	j.claims.idle.Changed.Notify()
	return j, nil
}

// openFile opens the file and its WAL. withoutWAL says that it was in use, and its WAL is
// gone.
func (j *Journal) openFile(ctx context.Context) (withoutWAL bool, err error) {
	f, err := lockFiles(j.path)
	if err != nil {
		return false, err
	}
	if withoutWAL, err = j.matchWAL(ctx); err != nil {
		return false, errors.Join(err, f.close())
	}
	e, err := openEngine(ctx, j.path)
	if err != nil {
		return false, errors.Join(err, f.close())
	}
	l, err := e.load(ctx)
	if err == nil {
		err = f.opened()
	}
	if err != nil {
		return false, errors.Join(err, e.close(), f.close())
	}
	j.e, j.files, j.ledger = e, f, l
	return withoutWAL, nil
}

// quotaError returns why nothing that is held against a quota is accepted, or nil.
func (j *Journal) quotaError(n commit.Quota) error {
	if err := j.moved.Load(); n != commit.NoQuota && err != nil {
		return *err
	}
	if short := j.quota.short.Load(); short.refuses(n) {
		return short.err
	}
	return nil
}

// over is by how much the journal is larger than it should be with a history.
func (j *Journal) over(context.Context) (int64, error) { return j.quota.over.Load(), nil }

// Changed implements Journal.
func (j *Journal) Changed() <-chan struct{} { return j.claims.idle.Changed }

// LockKind implements Journal.
func (j *Journal) LockKind(_ context.Context, kind report.Kind) error {
	if j.isClosed() {
		return journal.ErrClosed
	}
	return report.CheckKind(kind)
}

// LockVerify implements Journal.
func (j *Journal) LockVerify(_ context.Context, kind report.Kind) (done func(), err error) {
	if j.isClosed() {
		return nil, journal.ErrClosed
	}
	if _, taken := j.verifying.LoadOrStore(kind, true); taken {
		return nil, report.ErrVerifying
	}
	return sync.OnceFunc(func() { j.verifying.Delete(kind) }), nil
}

// UnlockKind implements Journal.
func (j *Journal) UnlockKind(report.Kind) {}

func (j *Journal) isClosed() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.closed
}

// Ready implements Journal.
func (j *Journal) Ready() error { return cmp.Or(j.accepts(), j.queue.Stalled()) }

// accepts returns what is known to keep deliveries out, or nil.
func (j *Journal) accepts() error {
	for _, p := range []*atomic.Pointer[error]{&j.failure, &j.moved} {
		if err := p.Load(); err != nil {
			return *err
		}
	}
	return j.quota.err()
}

// Lineage implements Journal.
func (j *Journal) Lineage() string { return j.lineage }

// Close implements Journal.
func (j *Journal) Close() error { return j.close() }

func (j *Journal) shutDown() error {
	j.endCopies()
	j.queue.Close()
	<-j.ended
	j.background.Wait()
	j.fail(journal.ErrClosed)

	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.awaitDiskTest()
	var err error
	if j.e != nil && !j.distrusted {
		err = j.lastCheckpoint()
	}
	if j.e != nil {
		err = errors.Join(err, j.e.close())
		j.e = nil
	}
	if j.files != nil {
		err = errors.Join(err, j.files.close())
	}
	if err = errors.Join(err, j.watermark.close(), j.lock.Close()); err != nil {
		return fmt.Errorf("close the journal %s: %w", j.path, err)
	}
	return nil
}

// lastCheckpoint copies the WAL into the file, so that SQLite removes it. If it would have to
// wait for another process, the WAL stays, and the next process goes on with it.
func (j *Journal) lastCheckpoint() error {
	_ = j.e.setInUse(context.Background(), false) // where that fails, what is beside the file tells more
	if err := j.e.truncateWAL(context.Background()); err != nil {
		if classify(err) == commit.FaultEngine {
			j.markSuspect(err)
			return err
		}
		return nil
	}
	if wal, err := fileSize(j.path + "-wal"); err != nil || wal > 0 {
		return err
	}
	return unlockReading(j.files.locked)
}

func (j *Journal) fail(err error) { j.failure.Store(&err) }

// read calls f with the open engine, which stays open until f returns.
func (j *Journal) read(f func(*engine) error) error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	switch {
	case j.closed:
		return journal.ErrClosed
	case j.e == nil:
		return j.Ready()
	}
	if wait, long := j.queue.Oldest(); wait >= commit.StallAfter && !long {
		return fmt.Errorf("the disk of %s has not answered for %v", j.path, wait.Round(time.Second))
	}
	select {
	case <-j.testDisk():
		return f(j.e)
	case <-time.After(commit.StallAfter):
		return fmt.Errorf("the disk of %s has not answered for %v", j.path, commit.StallAfter)
	}
}

// inSnapshot calls f in a transaction that only reads, and sees the journal as it is in one moment. It
// waits for the memory that f lacks without one.
func (j *Journal) inSnapshot(ctx context.Context, f func(*sql.Tx) error) error {
	return report.WithinMemory(ctx, func() error {
		return j.read(func(e *engine) error {
			tx, err := e.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			return f(tx)
		})
	})
}

// testDisk writes a byte to the disk of the journal, and closes the channel that it returns once
// the write has ended. Whoever reads the database writes, too: to the memory that SQLite
// shares by way of a file. Where the disk hangs, such a write is a page fault that Go knows
// nothing of: a few of them, or one and the next garbage collection, would stop the whole
// process until the disk answers. This write waits in a system call, beside which all others
// go on; all who ask meanwhile wait for the same one. It counts as a request, so that a
// disk that hangs shows in Ready where nobody delivers.
func (j *Journal) testDisk() (done <-chan struct{}) {
	j.diskTesting.Lock()
	defer j.diskTesting.Unlock()
	if j.diskTest == nil {
		tested, answered := make(chan struct{}), j.queue.Expect()
		j.diskTest = tested
		go func() {
			_, _ = j.lock.WriteAt([]byte("\n"), lockTested) // that it fails shows in the journal itself
			answered()
			j.diskTesting.Lock()
			defer j.diskTesting.Unlock()
			j.diskTest = nil
			close(tested)
		}()
	}
	return j.diskTest
}

// awaitDiskTest waits for the test under way, if there is one.
func (j *Journal) awaitDiskTest() {
	j.diskTesting.Lock()
	test := j.diskTest
	j.diskTesting.Unlock()
	if test != nil {
		<-test
	}
}
