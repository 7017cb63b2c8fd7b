package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// A restore that is interrupted leaves the old journal or the new one. The copy is made beside the
// journal and checked. Once it is renamed to PATH.restore-TIME, it is the journal. Then the old
// file is moved to PATH.before-TIME, with its WAL and all that belongs to it, and the copy gets the
// name of the journal. Whoever opens the journal in between completes these steps.
const (
	restoreInfix = ".restore-"
	beforeInfix  = ".before-"
)

// besideSuffixes are the suffixes of files that may stand beside a journal and belong to it.
var besideSuffixes = []string{"", "-wal", "-shm", "-journal", watermarkSuffix, suspectSuffix, wholeSuffix}

// RestoreOptions allow copies that Restore otherwise refuses.
type RestoreOptions struct {
	Damaged        bool // a copy with damaged records or pages
	AnotherJournal bool // a copy of another journal than the one that it replaces, or if that cannot be read

	step func(string) // tests
}

// RestoreReport describes a restored journal.
type RestoreReport struct {
	report.BackupReport
	Path   string    // of the journal
	Newest time.Time // when its newest change was accepted; zero if there is none

	// Loss is what the journal lacks now. After is how many changes the old journal had
	// accepted since the copy was made; -1 if unknown.
	Loss  report.Loss
	After int64

	Aside string // the new name of the old file; empty if there was none
}

// ErrDamaged is returned by Restore, with a report of the damage, if it refuses a damaged copy.
var ErrDamaged = errors.New("the copy is damaged")

// Restore replaces the journal in the file path, which must not be in use, by a copy of the file
// from. That may be a backup, or what an earlier restore has moved aside; it is not changed. The
// old journal is moved aside. If the error is nil, the new journal is durable. Otherwise the old
// one is still there, unless the report has a Path: then the next process that opens the journal
// completes the restore.
//
// What was acknowledged after the copy was made is lost, which the new journal reports when it is
// opened. progress, if not nil, is called now and then by the same goroutine.
func Restore(ctx context.Context, from, path string, opt RestoreOptions, progress func(report.BackupProgress)) (RestoreReport, error) {
	if progress == nil {
		progress = func(report.BackupProgress) {}
	}
	if opt.step == nil {
		opt.step = func(string) {}
	}
	r := &restore{backup: backup{from: from, progress: progress}, opt: opt, report: RestoreReport{After: -1}}
	err := r.run(ctx, path)
	if err != nil {
		err = fmt.Errorf("restore the journal %s from %s: %w", path, from, err)
	}
	r.report.BackupReport = r.backup.report
	return r.report, err
}

type restore struct {
	backup
	path   string
	opt    RestoreOptions
	report RestoreReport
	owner  os.FileInfo // of a file that has the owner that the journal is to have
}

func (r *restore) run(ctx context.Context, path string) (err error) {
	if r.from, err = filepath.Abs(r.from); err != nil {
		return err
	}
	if r.path, err = filepath.Abs(path); err != nil {
		return err
	}
	if err := r.checkFrom(); err != nil {
		return err
	}
	if err := checkFolder(filepath.Dir(r.path)); err != nil {
		return err
	}
	lock, err := lockFile(r.path + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := finishRestore(r.path, r.opt.step); err != nil {
		return err
	}
	if err := r.checkUnused(); err != nil {
		return err
	}
	r.partial = r.path + partialSuffix
	defer func() { err = errors.Join(err, remove(r.partial)) }()
	if err := r.makeCopy(ctx); err != nil {
		return err
	}
	stamp, err := r.freeStamp(time.Now())
	if err != nil {
		return err
	}
	r.giveTo(r.partial, lock.Name())
	r.opt.step("checked")
	whole := r.path + restoreInfix + stamp
	if err := os.Rename(r.partial, whole); err != nil {
		return err
	}
	r.report.Path = r.path
	for _, suffix := range besideSuffixes {
		if _, err := os.Lstat(r.path + suffix); err == nil {
			r.report.Aside = r.path + beforeInfix + stamp
		}
	}
	if err := syncDir(filepath.Dir(r.path)); err != nil {
		return err
	}
	r.opt.step("whole")
	return finishRestore(r.path, r.opt.step)
}

// freeStamp returns a time in the form used in file names, now or soon after, for which no file
// exists yet.
func (r *restore) freeStamp(now time.Time) (string, error) {
	entries, err := os.ReadDir(filepath.Dir(r.path))
	for ; err == nil; now = now.Add(time.Second) {
		stamp := now.UTC().Format("20060102T150405Z")
		if !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			return strings.HasPrefix(e.Name(), filepath.Base(r.path)+beforeInfix+stamp)
		}) {
			return stamp, nil
		}
	}
	return "", err
}

// checkFrom refuses a source that is not a complete copy apart from the journal.
func (r *restore) checkFrom() error {
	if err := checkIsFile(r.from); err != nil {
		return err
	}
	for _, suffix := range []string{suspectSuffix, wholeSuffix} {
		if _, err := os.Lstat(r.from + suffix); !errors.Is(err, os.ErrNotExist) {
			return errors.Join(fmt.Errorf("the last process on it could not write it (%s is there), and it has to be rewritten first: "+
				"start riskdex on it, and stop it again", r.from+suffix), err)
		}
	}
	if r.from == r.path {
		return errors.New("that is the journal itself; move it to another name, and restore it from there")
	}
	return nil
}

// checkUnused refuses a journal that any process has open, under this or another name.
func (r *restore) checkUnused() error {
	held, err := lockFiles(r.path)
	if errors.Is(err, os.ErrNotExist) {
		r.owner, err = os.Stat(filepath.Dir(r.path))
		return err
	}
	if err != nil {
		return err
	}
	r.owner = held.seen[0]
	from, err := os.Stat(r.from)
	if err == nil && os.SameFile(from, r.owner) {
		err = errors.New("that is the journal itself, under another name; copy it, and restore the copy")
	}
	return errors.Join(err, held.close(), unread(r.path))
}

// makeCopy makes a copy in the file partial that can take the place of the journal.
func (r *restore) makeCopy(ctx context.Context) error {
	if err := remove(r.partial); err != nil {
		return err
	}
	if err := createFile(r.partial); err != nil {
		return err
	}
	if err := r.copy(ctx); err != nil {
		return err
	}
	r.opt.step("copied")
	if err := r.check(ctx); err != nil {
		return fmt.Errorf("check the copy: %w", err)
	}
	r.report.Newest = commit.FromMicro(r.newest)
	if r.newest == 0 {
		r.report.Newest = time.Time{}
	}
	if (r.backup.report.Damaged > 0 || r.backup.report.Problem != "") && !r.opt.Damaged {
		return ErrDamaged
	}
	was, err := r.was(ctx)
	if err != nil {
		return err
	}
	err = changeFile(ctx, r.partial, func(conn *sql.Conn) error { return r.compare(ctx, conn, was) })
	if err == nil {
		err = syncFile(r.partial)
	}
	return err
}

// was is what is known about the journal that is replaced.
type was struct {
	summary                // zero unless all of it can be read
	line    string         // its lineage; empty if there is no journal, or if it cannot be read
	noted   report.Version // the last version acknowledged
	content report.Version // the last version that is not of the probe
	unread  error          // why not all of it can be read
}

// was reads the journal that is replaced, as far as possible: damage may be the reason for the
// restore.
func (r *restore) was(ctx context.Context) (w was, err error) {
	w.noted, _, w.unread = checkWALBeside(ctx, r.path)
	if size, err := fileSize(r.path); err == nil && size == 0 { // or it is not there
		return was{noted: w.noted}, nil
	}
	if w.unread == nil {
		w.unread = r.readWas(ctx, &w)
	}
	return w, ctx.Err()
}

func (r *restore) readWas(ctx context.Context, w *was) error {
	how := ""
	if wal, err := fileSize(r.path + "-wal"); err == nil && wal == 0 {
		how = "&immutable=1" // nobody has it open, and immutable leaves no files beside it
	}
	s, err := openSourceWith(ctx, r.path, how)
	if err != nil {
		return err
	}
	defer s.close()
	if err = checkIsJournal(ctx, s.conn); err != nil {
		return err
	}
	if w.line, err = readLineage(ctx, s.conn); err != nil {
		return err
	}
	all, err := summarize(ctx, s.conn)
	if err == nil {
		err = s.conn.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM documents WHERE kind <> ?`, string(report.Probe)).Scan((*int64)(&w.content))
	}
	if err == nil {
		w.summary = all
	}
	return err
}

// lacks returns what may be missing if a journal whose last version is `has` took the place of
// this one. Where nothing is left of the journal that the copy was made of, as on a new disk,
// that is all since the copy was made.
func (w was) lacks(line string, has report.Version, now time.Time) commit.Loss {
	until := max(w.noted, w.last)
	switch {
	case w.lineage == line && w.noted <= w.last:
		until = w.content // losing documents of the probe is no loss
	case w.lineage != line && (w.lineage != "" || w.noted == 0):
		until = max(until, report.Version(now.UnixMicro()))
	}
	lost := whatIsLost(until, has, false, now)
	if w.loss.Until > has { // a loss of its own, which the copy does not know
		lost = lost.Join(w.loss)
	}
	return lost
}

// summary is what a journal says about itself.
type summary struct {
	lineage  string // empty if it cannot be read
	accepted int64
	last     report.Version
	loss     commit.Loss
}

func summarize(ctx context.Context, conn *sql.Conn) (s summary, err error) {
	if s.lineage, err = readLineage(ctx, conn); err != nil {
		return summary{}, err
	}
	err = conn.QueryRowContext(ctx, `SELECT (SELECT coalesce(sum(indexes + deletes), 0) FROM totals WHERE kind <> ?),
		(SELECT value FROM meta WHERE name = 'last_version')`, string(report.Probe)).Scan(&s.accepted, (*int64)(&s.last))
	if err != nil {
		return summary{}, nonsense(err)
	}
	err = conn.QueryRowContext(ctx, `SELECT `+commit.LossColumns).Scan(s.loss.ScanTargets()...)
	return s, nonsense(err)
}

// compare refuses the copy if it is, or may be, of another journal, and records in it what it lacks.
func (r *restore) compare(ctx context.Context, conn *sql.Conn, was was) error {
	if err := setUp(ctx, conn); err != nil {
		return err
	}
	made, err := summarize(ctx, conn)
	if err != nil {
		return err
	}
	switch {
	case r.opt.AnotherJournal || was.line == made.lineage:
	case was.unread != nil:
		return fmt.Errorf("what is there cannot be read, so it may be another journal than the one that the copy was made of: %w. "+
			"To move it aside and restore the copy all the same: --from-another-journal", was.unread)
	case was.line != "":
		return fmt.Errorf("it is a copy of another journal, and not of the one that is there: what is indexed from the one is not from the other. "+
			"The one there has accepted %d changes, the last before %s; the copy %d, the last before %s. If the copy is the right one all the same, "+
			"such as where riskdex was started on an empty journal since: --from-another-journal",
			was.accepted, shortTime(was.last), made.accepted, shortTime(made.last))
	}
	if was.lineage == made.lineage {
		r.report.After = max(0, was.accepted-made.accepted)
	}
	l := commit.Ledger{Loss: made.loss.Join(was.lacks(made.lineage, made.last, time.Now()))}
	l.LastVersion = max(made.last, was.noted, was.last, l.Loss.Until)
	r.report.Loss = l.Loss.Report()
	return keepLedger(ctx, conn, l)
}

// keepLedger writes the last version and the loss.
func keepLedger(ctx context.Context, conn *sql.Conn, l commit.Ledger) error {
	_, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE; UPDATE meta SET value = ?1 WHERE name = 'last_version';
		UPDATE ids SET value = ?5 WHERE name = 'feed';
		INSERT OR REPLACE INTO loss (one, since, until, noticed_at) SELECT 1, ?2, ?3, ?4 WHERE ?3 > 0; COMMIT`, int64(l.LastVersion), int64(l.Loss.Since), int64(l.Loss.Until), l.Loss.NoticedAt, newFileID())
	if err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // SQLite may have done so itself
	}
	return err
}

func shortTime(v report.Version) string {
	if v == 0 {
		return "no time"
	}
	return commit.FromMicro(int64(v)).Format(time.RFC3339)
}

// giveTo gives files to the owner of the old journal, since a restore often runs as root and
// riskdex does not. If that is not permitted, the owner stays as it is.
func (r *restore) giveTo(paths ...string) {
	if owner, ok := r.owner.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		for _, path := range paths {
			_ = os.Lchown(path, int(owner.Uid), int(owner.Gid))
		}
	}
}

// finishRestore completes a restore that was begun, if there is one: it puts the copy in the
// place of the journal, which no process may have open. If it is interrupted, calling it again
// completes it.
func finishRestore(path string, step func(string)) error {
	whole, err := begunRestore(path)
	if whole == "" || err != nil {
		return err
	}
	aside := path + beforeInfix + strings.TrimPrefix(whole, path+restoreInfix)
	for _, suffix := range besideSuffixes {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("complete a restore: %w", err)
		}
		step("moved " + suffix)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return err
	}
	step("aside")
	if err := os.Rename(whole, path); err != nil {
		return fmt.Errorf("complete a restore: %w", err)
	}
	step("in place")
	return syncDir(filepath.Dir(path))
}

// begunRestore returns the name of the copy of an unfinished restore; empty if there is none.
func begunRestore(path string) (string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+restoreInfix) {
			return filepath.Join(filepath.Dir(path), e.Name()), nil
		}
	}
	return "", err
}
