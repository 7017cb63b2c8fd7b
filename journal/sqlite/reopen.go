package sqlite

import (
	"context"
	"fmt"
	"os"
	"time"
)

// reopen replaces a distrusted file and its engine by new ones. It also loads the ledger again,
// since the failed transaction may have reached the file after all.
func (j *Journal) reopen() error {
	if !j.distrusted {
		return nil
	}
	_ = j.awaitFlush() // its requests are answered; the file is replaced anyway
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

// replace copies the old file, which stays readable until the copy is complete. It reopens the
// old file first: an open SQLite remembers which pages are in the WAL and does not verify their
// checksums again, but after a failed write the system may have dropped some of them, which then
// read as zeros. A newly opened SQLite accepts the WAL up to the last complete transaction,
// which includes everything acknowledged.
func (j *Journal) replace(ctx context.Context) error {
	if j.files != nil {
		if err := j.files.checkMoved(); err != nil {
			return err // another journal is there now
		}
	}
	if _, err := os.Stat(j.path + wholeSuffix); err != nil {
		if !j.recovered {
			if err := j.openAgain(ctx, unread); err != nil {
				return err
			}
			j.recovered = true
		}
		if err := rewrite(ctx, j.path); err != nil {
			return err
		}
	}
	if err := j.openAgain(ctx, swapIn); err != nil {
		return err
	}
	if err := j.compareWatermark(ctx, false); err != nil {
		return err
	}
	return j.begin(ctx)
}

// openAgain closes the engine, calls between with the path of the journal, and opens it.
func (j *Journal) openAgain(ctx context.Context, between func(path string) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.e != nil {
		if err := j.e.close(); err != nil {
			j.opt.Log.Warn("the failed database did not close cleanly", "path", j.path, "error", err)
		}
		j.e = nil
	}
	if j.files != nil {
		_ = j.files.close() // only its locks matter, and closing frees them even if it fails
		j.files = nil
	}
	if err := between(j.path); err != nil {
		return err
	}
	_, err := j.openFile(ctx)
	return err
}

// markSuspect leaves a mark for the next process, in case this one ends before the file is
// replaced. It does nothing about damaged pages: a copy would have them, too, and the intact
// ones remain usable.
func (j *Journal) markSuspect(cause error) {
	if isCorrupt(cause) {
		return
	}
	if err := suspect(j.path); err != nil {
		j.opt.Log.Warn("cannot note that the journal is suspect: do not restart before its disk works", "path", j.path, "error", err)
	}
}
