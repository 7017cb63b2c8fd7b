package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// walLimit is the size that the WAL usually stays within, in bytes. A WAL of twice that size
// means that checkpoints fail, or that someone reads the file for long, as a backup does:
// what is being read must not change, so what is written meanwhile stays in the WAL.
const walLimit = checkpointPages * pageSize

// checkQuota checks the quotas and the WAL after about written bytes of bodies were written.
// Its error is one of the disk.
func (j *Journal) checkQuota(written int64) error {
	q := j.quota
	q.written += 2 * written // to the WAL, and later to the file
	q.measureDisk()
	wal, err := fileSize(j.path + "-wal")
	if err == nil && q.max > 0 {
		err = j.measure(wal)
	}
	q.walBytes = wal
	if err == nil {
		err = j.checkpoint(wal)
	}
	q.judge()
	return err
}

// measure finds out how much of its limit the journal uses. Where the WAL alone exceeds the
// limit, it truncates the WAL.
func (j *Journal) measure(wal int64) error {
	ctx, q := context.Background(), j.quota
	pages, err := j.e.usedPages()
	if most, _ := q.limits(); err == nil && pages < most && pages+wal >= most {
		if err = j.truncateWAL(ctx); err == nil {
			wal, err = fileSize(j.path + "-wal")
		}
	}
	q.used = pages + wal
	return err
}

// checkpoint copies a long WAL into the database file. SQLite could do so inside COMMIT, but
// then the group would wait for it; this way the disk works on the group at the same time.
func (j *Journal) checkpoint(wal int64) error {
	q := j.quota
	ahead, err := j.e.checkpointBacklog(`PRAGMA wal_checkpoint(NOOP)`)
	if age := q.now().Sub(q.checkpointed); err != nil || ahead < checkpointPages || q.longWAL && age >= 0 && age < measureEvery {
		return err
	}
	if ahead, err = j.e.checkpointBacklog(`PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
		return err
	}
	if ahead == 0 {
		j.inFile()
	}
	q.checkpointed = q.now()
	isLong := ahead >= checkpointPages && (q.longWAL || wal > 2*walLimit)
	if isLong && !q.longWAL {
		q.log.Warn("the write-ahead log of the journal grows while another process reads it, such as a backup", "path", j.path, "bytes", wal)
	}
	q.longWAL = isLong
	return nil
}

// checkpointBacklog carries out a checkpoint, and returns how many pages of the WAL are not in
// the database file after it.
func (e *engine) checkpointBacklog(checkpoint string) (pages int64, err error) {
	var busy, all, copied int64
	if err := e.write.row(checkpoint)(&busy, &all, &copied); err != nil {
		return 0, fmt.Errorf("copy the WAL into the database file: %w", err)
	}
	return all - copied, nil
}

// usedPages returns how many bytes of the database file are in use. Free pages are used
// before the file grows.
func (e *engine) usedPages() (int64, error) {
	var pages int64
	if err := e.write.row(usedPagesQuery)(&pages); err != nil {
		return 0, fmt.Errorf("see how much of it is in use: %w", err)
	}
	return pages * pageSize, nil
}

const usedPagesQuery = `SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count`

// truncateWAL copies the WAL into the database file and truncates it, unless it would have to
// wait for readers.
func (j *Journal) truncateWAL(ctx context.Context) error {
	if err := j.e.truncateWAL(ctx); err != nil {
		return err
	}
	wal, err := fileSize(j.path + "-wal")
	if err == nil && wal == 0 {
		j.inFile()
	}
	return err
}

func (e *engine) truncateWAL(ctx context.Context) error {
	if _, err := e.write.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	var busy, pages, copied int64
	err := e.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
	_, again := e.write.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout.Milliseconds()))
	if err = errors.Join(err, again); err != nil {
		return fmt.Errorf("copy the WAL into the database file: %w", err)
	}
	return nil
}

// fileSize is 0 where there is no such file.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil:
		return info.Size(), nil
	case errors.Is(err, os.ErrNotExist):
		return 0, nil
	}
	return 0, err
}
