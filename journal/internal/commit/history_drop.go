package commit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// historyEvery is how often entries beyond the bounds of the history are dropped.
const historyEvery = time.Minute

// DropHistory implements Journal.
func (j *Requests) DropHistory(ctx context.Context) (sum int, err error) {
	if j.opt.History == 0 {
		return 0, nil
	}
	for {
		n := 0
		err := j.queue.Do(ctx, &Request{Size: TombstoneStep, Quota: DiskQuota, Run: func(tx *Transaction) (err error) {
			if j.opt.History < 0 {
				n, err = tx.Store.DropPast(math.MaxInt64, math.MaxInt64, TombstoneStep)
			} else {
				n, err = tx.dropPast(tx.Now.Add(-j.opt.History).UnixMicro(), j.opt.HistoryMaxBytes)
			}
			return err
		}})
		sum += n
		if err == nil && n == TombstoneStep {
			err = Sleep(ctx, DropPause)
		}
		if err != nil {
			return sum, fmt.Errorf("drop old entries of the history from the journal: %w", err)
		}
		if n < TombstoneStep {
			return sum, nil
		}
	}
}

// dropPast drops what is older than the history is kept, and then what exceeds its size, which it
// notes: nothing else tells why the history begins later than it should.
func (tx *Transaction) dropPast(before, most int64) (n int, err error) {
	n, err = tx.Store.DropPast(before, math.MaxInt64, TombstoneStep)
	if err != nil || n == TombstoneStep {
		return n, err
	}
	more, err := tx.Store.DropPast(0, most, TombstoneStep-n)
	if err == nil && more > 0 {
		err = tx.Store.Note(NotePrefix+report.HistoryCutNote, report.NoteOfTime(tx.Now))
	}
	return n + more, err
}

// KeepHistoryBounded drops entries beyond the bounds of the history every historyEvery, until
// ctx ends. After each round it calls after.
func KeepHistoryBounded(ctx context.Context, j journal.Journal, opt journal.Options, after func(context.Context) error) {
	if opt.History == 0 {
		return
	}
	first := historyEvery
	if opt.History < 0 {
		first = 0 // the history is to be dropped: begin at once
	}
	for wait := first; Sleep(ctx, wait) == nil; wait = historyEvery {
		n, err := j.DropHistory(ctx)
		if err == nil {
			err = after(ctx)
		}
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, journal.ErrClosed):
			opt.Log.Warn("old entries could not be dropped from the history; it is tried again later", "error", err)
		case n > 0:
			opt.Log.Debug("dropped old entries from the history", "entries", n)
		}
	}
}
