package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// reopen replaces a distrusted file and its engine by new ones and loads the ledger
// again: the transaction that failed may be in the file after all.
func (j *SQLite) reopen() error {
	if !j.distrusted {
		return nil
	}
	_ = j.land() // it is answered; the file goes
	start := time.Now()
	if err := j.replace(j.open); err != nil {
		// It may have read all of the file: there has to be time for other things.
		j.retryAt = time.Now().Add(10 * time.Since(start))
		return fmt.Errorf("start over with a copy of it: %w", err)
	}
	j.distrusted = false
	j.claims.reopened()
	return nil
}

// replace goes on with reading the old engine until the copy is whole.
func (j *SQLite) replace(ctx context.Context) error {
	if _, err := os.Stat(j.path + wholeSuffix); err != nil {
		if err := copyAfresh(ctx, j.path); err != nil {
			return err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.e != nil {
		if err := j.e.close(); err != nil {
			j.opt.Log.Warn("the failed database did not close cleanly", "path", j.path, "error", err)
		}
		j.e = nil
	}
	if err := adopt(j.path); err != nil {
		return err
	}
	e, err := openEngine(ctx, j.path)
	if err != nil {
		return err
	}
	l, err := e.load(ctx)
	if err != nil {
		return errors.Join(err, e.close())
	}
	j.e, j.ledger = e, l
	return nil
}

// markSuspect leaves a mark for the next process, in case this one ends before the
// file is replaced. Damaged pages are no case for it: a copy would have them, too,
// and what is intact is of use in the next process.
func (j *SQLite) markSuspect(cause error) {
	if isCorrupt(cause) {
		return
	}
	if err := suspect(j.path); err != nil {
		j.opt.Log.Warn("cannot note that the journal is suspect: do not restart before its disk works", "path", j.path, "error", err)
	}
}
