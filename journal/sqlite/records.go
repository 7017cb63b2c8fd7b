package sqlite

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/dustin/go-humanize"

	"riskdex/journal"
	"riskdex/report"
)

// snapshotWAL is how large the WAL may become while Records reads. It cannot be truncated
// meanwhile, and its length counts for the disk quota: a client that reads slowly must not
// keep deliveries from being accepted.
const snapshotWAL = 256 << 20

// Records implements Journal. It reads with a connection of its own, as a backup does, so
// that the journal can be repaired or closed meanwhile.
func (j *Journal) Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error] {
	return func(yield func(report.Record, error) bool) {
		more := true
		err := j.eachRecord(ctx, kind, func(r report.Record) bool {
			more = yield(r, nil)
			return more
		})
		if err != nil && more {
			yield(report.Record{}, fmt.Errorf("read the %s in the journal: %w", kind, err))
		}
	}
}

// eachRecord calls f with every record until f returns false.
func (j *Journal) eachRecord(ctx context.Context, kind report.Kind, f func(report.Record) bool) (err error) {
	if err := report.CheckKind(kind); err != nil {
		return err
	}
	if err := j.read(func(*engine) error { return nil }); err != nil { // as whoever reads it, on a disk that may hang
		return err
	}
	if moved := j.moved.Load(); moved != nil {
		return *moved // under its name is another file
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(j.open, func() { cancel(journal.ErrClosed) })()
	defer func() {
		if err != nil && context.Cause(ctx) != nil {
			err = context.Cause(ctx)
		}
	}()
	s, err := openSource(ctx, j.path)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	for r, err := range j.EachRecord(ctx, s.conn, kind, func() error { return checkSnapshot(j.path) }) {
		if err != nil {
			return err
		}
		if !f(r) {
			return nil
		}
	}
	return nil
}

// checkSnapshot returns an error when too much was written to the WAL since it could be
// truncated last.
func checkSnapshot(path string) error {
	info, err := os.Stat(path + "-wal")
	if err == nil && info.Size() > snapshotWAL {
		return fmt.Errorf("%w: the WAL has %s", report.ErrSnapshotTooOld, humanize.IBytes(uint64(info.Size())))
	}
	return nil
}
