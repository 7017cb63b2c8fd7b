package commit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// historyEvery is how often entries beyond the bounds of the history are dropped, whatever is added,
// and historyAgain the time until that is tried again after an error.
const (
	historyEvery = time.Minute
	historyAgain = 5 * time.Second
)

// Growth is the history as a process adds to it. It has what is beyond the bounds dropped soon after it
// was added.
type Growth struct {
	share int64 // what may be added before it is looked at again
	added atomic.Int64
	look  Signal
}

// newGrowth bounds what is added between two looks by a part of Slack: then the history begins to give
// way before deliveries are refused for lack of room.
func newGrowth(opt journal.Options) *Growth {
	most := opt.HistoryMaxBytes
	if opt.MaxBytes > 0 {
		most = min(most, opt.MaxBytes)
	}
	return &Growth{share: most / (2 * Slack), look: NewSignal()}
}

// grow notes how much was added. What is then rolled back counts as well, and has it looked at too
// early.
func (g *Growth) grow(bytes int64) {
	if g.added.Add(bytes) > g.share {
		g.look.Notify()
	}
}

// DropHistory implements Journal.
func (j *Requests) DropHistory(ctx context.Context) (int, error) {
	if j.opt.History == 0 {
		return 0, nil
	}
	n, _, err := j.dropPast(ctx, true)
	return n, err
}

// dropPast drops, if asked to, what is too old, and the oldest of the rest while the history is larger
// than it may be, or the journal is so large that deliveries would soon be refused: then the history
// gives way, as far as there is one. gaveWay says that something was dropped for that.
func (j *Requests) dropPast(ctx context.Context, aged bool) (sum int, gaveWay bool, err error) {
	j.growth.added.Store(0)
	for {
		n := 0
		over, err := j.hooks.Over(ctx)
		if err == nil {
			t := &dropPast{opt: j.opt, aged: aged, over: over}
			if err = j.queue.Do(ctx, &Request{Task: t, Size: TombstoneStep, Quota: DiskQuota}); err == nil {
				n = t.dropped
			}
		}
		sum += n
		gaveWay = gaveWay || over > 0 && n > 0
		if err == nil && n >= TombstoneStep {
			err = Sleep(ctx, DropPause)
		}
		if err != nil {
			return sum, gaveWay, fmt.Errorf("drop old entries of the history from the journal: %w", err)
		}
		if n < TombstoneStep {
			return sum, gaveWay, nil
		}
	}
}

// dropPast is the task of one step of it.
type dropPast struct {
	opt  journal.Options
	aged bool
	over int64

	dropped int
}

// Execute implements Task. It drops what is older than the history is kept, and then what exceeds its size or
// has to give way, which it notes: nothing else tells why the history begins later than it should.
func (d *dropPast) Execute(tx *Transaction) error {
	before := int64(0)
	switch {
	case d.aged && d.opt.History < 0:
		before = math.MaxInt64
	case d.aged:
		before = tx.Now.Add(-d.opt.History).UnixMicro()
	}
	d.dropped = 0
	if may, err := tx.Store.MayDropPast(); err != nil || !may {
		return err
	}
	bytes := int64(0)
	_, err := one(tx.Store, []any{&bytes}, `SELECT CAST(coalesce(sum(history_bytes), 0) AS bigint) FROM totals`)
	for _, t := range tx.ledger.Totals {
		bytes += t.HistoryBytes
	}
	if err != nil {
		return err
	}
	excess, cut, last := max(bytes-d.opt.HistoryMaxBytes, d.over), false, int64(0)
	err = tx.Store.Query(func(scan func(...any) error) error {
		var version, at, size int64
		if err := scan(&version, &at, &size); err != nil {
			return err
		}
		if at >= before && excess <= 0 {
			return ErrEnough
		}
		cut = cut || at >= before
		excess -= size + HistoryRowBytes
		last = version
		return nil
	}, oldestPast)
	if err == nil && last > 0 {
		err = tx.Store.Query(func(scan func(...any) error) error {
			var kind string
			var size int64
			err := scan(&kind, &size)
			tx.ledger.Update(report.Kind(kind), func(t *Totals) {
				t.History--
				t.HistoryBytes -= size + HistoryRowBytes
				t.HistoryDropped++
			})
			d.dropped++
			return err
		}, `DELETE FROM history WHERE version <= $1 RETURNING kind, coalesce(length(old_body), 0)`, last)
	}
	if err == nil && cut {
		err = tx.note(NotePrefix+report.HistoryCutNote, report.NoteOfTime(tx.Now))
	}
	return err
}

var oldestPast = fmt.Sprintf(`SELECT version, at, coalesce(length(old_body), 0) FROM history ORDER BY version LIMIT %d`, TombstoneStep)

// KeepHistoryBounded drops entries beyond the bounds of the history every historyEvery, and soon
// after so much was added that it may be too large, until ctx ends. After each regular round it calls
// after.
func (j *Requests) KeepHistoryBounded(ctx context.Context, after func(context.Context) error) {
	if j.opt.History == 0 {
		return
	}
	first := historyEvery
	if j.opt.History < 0 {
		first = 0 // the history is to be dropped: begin at once
	}
	regular := time.NewTimer(first)
	defer regular.Stop()
	told := false // since the last regular look
	for {
		var n int
		var gaveWay bool
		var err error
		select {
		case <-ctx.Done():
			return
		case <-j.growth.look:
			n, gaveWay, err = j.dropPast(ctx, false)
		case <-regular.C:
			regular.Reset(historyEvery)
			told = false
			if n, gaveWay, err = j.dropPast(ctx, true); err == nil {
				err = after(ctx)
			}
		}
		if gaveWay && !told {
			told = true
			j.opt.Log.Warn("the journal is near --journal-max-bytes, so old entries of the history are dropped before it refuses deliveries: raise that, or lower --history-max-bytes")
		}
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, journal.ErrClosed):
			regular.Reset(historyAgain)
			j.opt.Log.Warn("old entries could not be dropped from the history; it is tried again soon", "error", err)
		case n > 0:
			j.opt.Log.Debug("dropped old entries from the history", "entries", n)
		}
	}
}
