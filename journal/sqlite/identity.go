package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// SQLite writes the pages of any WAL that it finds over the file beside it. If somebody replaces
// the file of a killed process by a copy, but leaves the WAL, SQLite would mix the two
// unnoticed. So each file has an id, both in the file and beside it (watermark), and every copy
// gets a new one. A copy made with other tools keeps the id, so the version that the file had
// when its WAL began is noted as well: an older copy is behind that version.

// boundWAL is the note beside a file about its WAL.
type boundWAL struct {
	file string         // the id of the file that the WAL belongs to; empty if unknown
	base report.Version // the file has everything up to this version without its WAL
}

// errOtherWAL says why a journal is not opened: its WAL belongs to another file.
var errOtherWAL = errors.New("the WAL there is of another file")

// bare is what a file says about itself when it is read without its WAL.
type bare struct {
	known bool // the file could be read; one that a killed process was writing may be incomplete
	id    string
	last  report.Version
	inUse bool // now, or when its last process was killed
}

func readBare(ctx context.Context, path string) bare {
	// SQLite must not check the schema for damage: during a checkpoint, the file may be shorter
	// than its header says.
	db, err := sql.Open("sqlite", dsn(path)+"&mode=ro&immutable=1&_pragma=writable_schema(1)")
	if err != nil {
		return bare{}
	}
	defer db.Close()
	var b bare
	err = db.QueryRowContext(ctx, `SELECT coalesce((SELECT value FROM ids WHERE name = 'file'), ''),
		coalesce((SELECT value FROM meta WHERE name = 'last_version'), 0), coalesce((SELECT value FROM meta WHERE name = 'in_use'), 0)`).
		Scan(&b.id, (*int64)(&b.last), &b.inUse)
	var e *sqlite.Error
	switch {
	case err == nil:
		b.known = true
	case errors.As(err, &e) && e.Code() == sqlite3.SQLITE_ERROR:
		return bare{known: true} // the tables are missing: the file is empty
	}
	return b
}

// checkWAL returns errOtherWAL if the WAL beside a file belongs to another file. withoutWAL
// tells that the file was in use but its WAL is missing or empty, so that it was probably copied
// or moved without it. It is false if the note beside the file is the file's own: then the
// watermark shows whether anything acknowledged is missing.
func checkWAL(ctx context.Context, path string, noted boundWAL) (b bare, withoutWAL bool, err error) {
	b = readBare(ctx, path)
	wal, err := fileSize(path + "-wal")
	switch {
	case err != nil || wal == 0:
		return b, b.inUse && (noted.file == "" || noted.file != b.id), err
	case !b.known || noted.file == "":
		return b, false, nil
	case b.id != noted.file || b.last < noted.base:
		return b, false, fmt.Errorf("%w: %s was put in its place, or is older than it was, while its WAL, %s-wal, stayed; SQLite would mix the two. "+
			"Put the file back that was there; or move this one to another name and have it take the place of the journal, with all that belongs to it: riskdex restore NAME --journal %s. "+
			"If nobody put it there, the file is damaged: restore a backup in the same way",
			errOtherWAL, path, path, path)
	}
	return b, false, nil
}

// checkWALBeside is checkWAL for a file that is only read. It also returns the last acknowledged
// version that is noted beside the file. It returns an error if a restore is unfinished: only a
// process that opens the journal for writing may complete that.
func checkWALBeside(ctx context.Context, path string) (noted report.Version, withoutWAL bool, err error) {
	noted, wal, err := notedBeside(path)
	if err == nil {
		_, withoutWAL, err = checkWAL(ctx, path, wal)
	}
	if begun, wrong := begunRestore(path); err == nil && (begun != "" || wrong != nil) {
		err = errors.Join(fmt.Errorf("a restore of it was begun, and is to be completed first (%s is there): start riskdex on it, or restore it again", begun), wrong)
	}
	return noted, withoutWAL, err
}

// notedBeside returns what is noted beside a file. Call it before reading the file: then, even
// if the journal is in use, the file is never behind the note.
func notedBeside(path string) (noted report.Version, wal boundWAL, err error) {
	f, err := os.Open(path + watermarkSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return 0, boundWAL{}, nil
	}
	if err != nil {
		return 0, boundWAL{}, err
	}
	w := watermark{f}
	return w.read(), w.wal(), w.close()
}

// matchWAL checks the WAL of the file that is about to be opened, and durably makes the note
// beside it name this file, before this file can get a WAL.
func (j *Journal) matchWAL(ctx context.Context) (withoutWAL bool, err error) {
	noted := j.watermark.wal()
	b, withoutWAL, err := checkWAL(ctx, j.path, noted)
	if err != nil || !b.known || b.id == noted.file {
		return withoutWAL, err
	}
	if wal, err := fileSize(j.path + "-wal"); err != nil || wal > 0 {
		return withoutWAL, err // the id was never noted; it will be once the WAL is empty
	}
	if err := j.watermark.noteWAL(boundWAL{file: b.id}); err != nil {
		return withoutWAL, err
	}
	return withoutWAL, j.watermark.file.Sync()
}

// begin marks the file as in use and truncates the WAL, so that the mark is in the file itself.
// If the disk is full or another process reads the file, begin gives up without an error: the
// only effect is that a missing WAL may go unnoticed.
func (j *Journal) begin(ctx context.Context) error {
	err := j.e.setInUse(ctx, true)
	if err == nil {
		err = j.e.write.QueryRowContext(ctx, `SELECT coalesce((SELECT value FROM ids WHERE name = 'file'), '')`).Scan(&j.fileID)
	}
	if err == nil {
		err = j.truncateWAL(ctx)
	}
	if err != nil && classify(err) != commit.FaultPassing {
		return fmt.Errorf("note that it is in use: %w", err)
	}
	return nil
}

func (e *engine) setInUse(ctx context.Context, is bool) error {
	_, err := e.write.ExecContext(ctx, `INSERT OR REPLACE INTO meta (name, value) VALUES ('in_use', ?)`, is)
	return err
}

// inFile notes that the file has every commit without its WAL.
func (j *Journal) inFile() {
	if j.fileID == "" {
		return
	}
	if err := j.watermark.noteWAL(boundWAL{j.fileID, j.ledger.LastVersion}); err != nil && !errors.Is(err, os.ErrClosed) {
		j.opt.Log.Debug("cannot note what the file has", "path", j.path+watermarkSuffix, "error", err)
	}
}

// newFileID returns a new id for a file. Every copy of a journal gets one of its own.
func newFileID() string { return rand.Text() }
