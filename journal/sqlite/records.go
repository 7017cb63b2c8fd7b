package sqlite

import (
	"context"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"

	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// snapshotWAL is how large the WAL may become while Records reads. It cannot be truncated
// meanwhile, and its length counts for the disk quota: a client that reads slowly must not
// keep deliveries from being accepted.
const snapshotWAL = 256 << 20

// inLongSnapshot calls f with one state of the journal, for as long as a client reads. It has a connection of
// its own, as a backup does, so that the journal can be repaired or closed meanwhile.
func (j *Journal) inLongSnapshot(ctx context.Context, f func(q tables.Querier, between func() error) error) error {
	if err := j.read(func(*engine) error { return nil }); err != nil { // as whoever reads it, on a disk that may hang
		return err
	}
	if moved := j.moved.Load(); moved != nil {
		return *moved // under its name is another file
	}
	s, err := openSource(ctx, j.path)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	return f(s.conn, func() error { return checkSnapshot(j.path) })
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
