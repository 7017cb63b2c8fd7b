package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"riskdex/report"
)

// Backup copies the journal in the file from to the new file to, and checks the copy. The journal
// may be in use, by this or another process. The copy is of one moment, and has everything that
// was acknowledged before the call. If the error is nil, the copy is durable; otherwise there is
// none, and a file that was there before is left alone. progress, if not nil, is called now and
// then by the same goroutine.
//
// While Backup copies, the journal's WAL grows by everything that is written; it is truncated
// afterwards.
//
// [Restore] restores a copy. A copy has a file id of its own, so that the WAL of the file that it
// replaces is not taken for its own. A restored journal lacks what was accepted after the copy was
// made. Versions come from the clock, so later deliveries are newer than anything in the index;
// documents that are not delivered again are older there, and settle as superseded.
func Backup(ctx context.Context, from, to string, progress func(report.BackupProgress)) (report.BackupReport, error) {
	if progress == nil {
		progress = func(report.BackupProgress) {}
	}
	b := &backup{from: from, to: to, progress: progress}
	if err := b.run(ctx); err != nil {
		return report.BackupReport{}, fmt.Errorf("back up the journal %s to %s: %w", from, to, err)
	}
	return b.report, nil
}

type backup struct {
	from, to, partial string
	progress          func(report.BackupProgress)
	report            report.BackupReport
	newest            int64 // when its newest document was accepted, in microseconds
}

func (b *backup) run(ctx context.Context) (err error) {
	if b.from, err = filepath.Abs(b.from); err != nil {
		return err
	}
	if err := b.refuseToOverwrite(); err != nil {
		return err
	}
	if err := checkIsFile(b.from); err != nil {
		return err
	}
	f, err := createPartial(b.to)
	if err != nil {
		return err
	}
	b.partial = f.Name()
	defer func() {
		gone := os.Remove(b.partial)
		if errors.Is(gone, os.ErrNotExist) {
			gone = nil
		}
		err = errors.Join(err, gone, f.Close())
	}()
	if err := b.copy(ctx); err != nil {
		return err
	}
	if err := b.check(ctx); err != nil {
		return fmt.Errorf("check the copy: %w", err)
	}
	return nameFile(b.partial, b.to, b.refuseToOverwrite)
}

func (b *backup) refuseToOverwrite() error {
	return refuseToOverwrite("a backup", b.to, b.to+"-wal")
}

// refuseToOverwrite returns an error if a file exists at one of paths. what names the thing that
// would replace it.
func refuseToOverwrite(what string, paths ...string) error {
	for _, path := range paths {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return errors.Join(fmt.Errorf("%s is there already, and %s overwrites nothing; choose another name", path, what), err)
		}
	}
	return nil
}

func checkIsFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("the journal is no regular file")
	}
	return err
}

// copy copies all pages as of one moment.
func (b *backup) copy(ctx context.Context) error {
	if _, _, err := checkWALBeside(ctx, b.from); err != nil {
		return err
	}
	source, err := openSource(ctx, b.from)
	if err != nil {
		return restoreHint(err)
	}
	err = checkIsJournal(ctx, source.conn)
	if err == nil {
		b.report.Bytes = source.bytes
		err = source.copyTo(ctx, b.partial, b.progress)
	}
	return errors.Join(err, source.close())
}

// createPartial creates the file that becomes the copy to, and removes what is left of attempts that
// were killed. It is locked until the caller closes it, so that another attempt leaves it alone.
func createPartial(to string) (*os.File, error) {
	folder, prefix := filepath.Dir(to), filepath.Base(to)+".partial-"
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), prefix) {
			continue
		}
		path := filepath.Join(folder, f.Name())
		inUse, err := isLocked(path)
		if err == nil && !inUse {
			err = remove(path)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	f, err := os.CreateTemp(folder, prefix+"*")
	if err != nil {
		return nil, err
	}
	if err := lockOpenFile(f); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// nameFile renames the durable file partial to the name to. It uses a hard link, which cannot
// replace a file that was created there meanwhile. If the file system has no hard links, it
// calls refuse to look for such a file, and renames.
func nameFile(partial, to string, refuse func() error) error {
	if err := os.Link(partial, to); err != nil {
		if err := refuse(); err != nil {
			return err
		}
		if err := os.Rename(partial, to); err != nil {
			return err
		}
	}
	return syncDir(filepath.Dir(to))
}
