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

// A file and its WAL belong together: SQLite writes the pages of whatever WAL it finds over
// whatever file is there. Where somebody has put a copy in the place of a file whose process
// was killed, that would mix the two, and nobody could tell. So each file has an id, in it
// and beside it (watermark), and each copy of it another one. A copy that was made with other
// tools has the same id, so the version that the file had when the WAL was begun is noted as
// well: an older state of the file is behind it.

// boundWAL is what is noted, beside a file, about its WAL.
type boundWAL struct {
	file string         // the id of the file that the WAL is for; empty where that is not known
	base report.Version // the file has everything up to it without this WAL
}

// errOtherWAL is why a journal is not opened.
var errOtherWAL = errors.New("the WAL there is of another file")

// bare is what a file says of itself when its WAL is left out.
type bare struct {
	known bool // it could be read: a file that its last process was writing need not be whole
	id    string
	last  report.Version
	inUse bool // or was, by a process that was killed
}

func readBare(ctx context.Context, path string) bare {
	// The schema is not asked for damage: while the WAL is copied, the file may be shorter
	// than it says.
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
		return bare{known: true} // it has no such tables: it is empty, or of an older schema
	}
	return b
}

// checkWAL returns errOtherWAL where the WAL beside a file is not of that file. withoutWAL
// says that the file was in use, and has no WAL, or an empty one: where nothing else is
// known, it was copied or moved without it. Where what is noted beside it is its own, that
// knows everything that was acknowledged.
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

// checkWALBeside is checkWAL for what is opened to be read, which it returns the last version
// of that is noted beside the file as acknowledged. A restore that was begun is completed by
// whoever opens the journal, and not by who reads it.
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

// notedBeside is to be asked before the file: of a journal in use, that is never behind it.
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

// matchWAL is for the file that is about to be opened. After it, what is noted beside the
// file names no other one: so, durably, before a WAL of this file can be there.
func (j *Journal) matchWAL(ctx context.Context) (withoutWAL bool, err error) {
	noted := j.watermark.wal()
	b, withoutWAL, err := checkWAL(ctx, j.path, noted)
	if err != nil || !b.known || b.id == noted.file {
		return withoutWAL, err
	}
	if wal, err := fileSize(j.path + "-wal"); err != nil || wal > 0 {
		return withoutWAL, err // it was never noted, and is when the WAL is empty
	}
	if err := j.watermark.noteWAL(boundWAL{file: b.id}); err != nil {
		return withoutWAL, err
	}
	return withoutWAL, j.watermark.file.Sync()
}

// begin says in the file that it is in use, and truncates the WAL, so that what the file says
// of itself is in it. Where there is no room, or somebody reads the file for long, it is
// left at that: less would be noticed, and nothing else.
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
	_, err := e.write.ExecContext(ctx, `INSERT OR REPLACE INTO meta VALUES ('in_use', ?)`, is)
	return err
}

// inFile notes that the file alone has everything that is committed.
func (j *Journal) inFile() {
	if j.fileID == "" {
		return
	}
	if err := j.watermark.noteWAL(boundWAL{j.fileID, j.ledger.LastVersion}); err != nil && !errors.Is(err, os.ErrClosed) {
		j.opt.Log.Debug("cannot note what the file has", "path", j.path+watermarkSuffix, "error", err)
	}
}

// newFileID returns the id of one file. Each copy of a journal is another file, and has
// another one.
func newFileID() string { return rand.Text() }
