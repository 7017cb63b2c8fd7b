package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// logLimit is the size that the log usually stays within. Twice as much of it
// means that copying it into the database file fails, or that someone reads the
// file for long, as a backup does: what is read stays as it was, and what is
// written meanwhile has to wait in the log.
const logLimit = checkpointPages * pageSize

// watchRoom notes what was written, about written bytes of bodies, and looks at
// the room that is left and at the log. Its error is one of the disk.
func (j *Journal) watchRoom(written int64) error {
	r := j.room
	r.written += 2 * written // to the log, and later to the file
	r.lookAtDisk()
	log, err := fileSize(j.path + "-wal")
	if err == nil && r.max > 0 {
		err = j.measure(log)
	}
	r.logBytes = log
	if err == nil {
		err = j.tendLog(log)
	}
	r.judge()
	return err
}

// measure finds out how much of its limit the journal uses, and empties the log
// where that is what is too much.
func (j *Journal) measure(log int64) error {
	ctx, r := context.Background(), j.room
	pages, err := j.e.usedPages(ctx)
	if most, _ := r.limits(); err == nil && pages < most && pages+log >= most {
		if err = j.emptyLog(ctx); err == nil {
			log, err = fileSize(j.path + "-wal")
		}
	}
	r.used = pages + log
	return err
}

// tendLog copies a log that has become long into the database file. SQLite could do so
// by itself inside of COMMIT, but then the group would wait for that; now the disk works
// on the group meanwhile.
func (j *Journal) tendLog(log int64) error {
	r := j.room
	ahead, err := logAhead(j.e.st.logLength)
	if age := r.now().Sub(r.tended); err != nil || ahead < checkpointPages || r.longLog && age >= 0 && age < lookEvery {
		return err
	}
	if ahead, err = logAhead(j.e.st.copyLog); err != nil {
		return err
	}
	if ahead == 0 {
		j.inFile()
	}
	r.tended = r.now()
	isLong := ahead >= checkpointPages && (r.longLog || log > 2*logLimit)
	if isLong && !r.longLog {
		r.log.Warn("the write-ahead log of the journal grows while another process reads it, such as a backup", "path", j.path, "bytes", log)
	}
	r.longLog = isLong
	return nil
}

// logAhead carries out a checkpoint, and returns how many pages of the log are not in
// the database file after it.
func logAhead(checkpoint *sql.Stmt) (pages int64, err error) {
	var busy, all, copied int64
	if err := checkpoint.QueryRowContext(context.Background()).Scan(&busy, &all, &copied); err != nil {
		return 0, fmt.Errorf("copy the log into the database file: %w", err)
	}
	return all - copied, nil
}

// usedPages is what the pages in use take in the database file, in bytes. Those
// that are free are used before the file grows.
func (e *engine) usedPages(ctx context.Context) (int64, error) {
	var pages int64
	if err := e.st.usedPages.QueryRowContext(ctx).Scan(&pages); err != nil {
		return 0, fmt.Errorf("see how much of it is in use: %w", err)
	}
	return pages * pageSize, nil
}

const usedPagesQuery = `SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count`

// emptyLog copies the log into the database file and cuts it off, if that needs no
// waiting for readers.
func (j *Journal) emptyLog(ctx context.Context) error {
	if err := j.e.emptyLog(ctx); err != nil {
		return err
	}
	log, err := fileSize(j.path + "-wal")
	if err == nil && log == 0 {
		j.inFile()
	}
	return err
}

func (e *engine) emptyLog(ctx context.Context) error {
	if _, err := e.write.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	var busy, pages, copied int64
	err := e.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
	_, again := e.write.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout.Milliseconds()))
	if err = errors.Join(err, again); err != nil {
		return fmt.Errorf("copy the log into the database file: %w", err)
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
