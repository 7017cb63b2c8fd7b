package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dustin/go-humanize"

	"riskdex/journal"
	"riskdex/report"
)

// Path is the file of the journal.
func (j *Journal) Path() string { return j.path }

// Backup backs up this journal as the function [Backup] does. It fails when the journal is
// closed, and does not begin if the copy would leave too little space on the disk to accept
// deliveries.
func (j *Journal) Backup(ctx context.Context, to string, progress func(report.BackupProgress)) (report.BackupReport, error) {
	err := j.read(func(*engine) error { return nil }) // wait like any other read if the disk hangs
	if err == nil {
		err = j.checkSpace(to)
	}
	if err != nil {
		return report.BackupReport{}, fmt.Errorf("back up the journal %s to %s: %w", j.path, to, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(j.open, func() { cancel(journal.ErrClosed) })()
	r, err := Backup(ctx, j.path, to, progress)
	if err != nil && context.Cause(ctx) != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return r, err
}

// checkSpace returns an error if a copy would take space that the journal needs.
func (j *Journal) checkSpace(to string) error {
	here, err := os.Stat(filepath.Dir(j.path))
	if err != nil {
		return err
	}
	there, err := os.Stat(filepath.Dir(to))
	if err != nil {
		return err
	}
	one, ok := here.Sys().(*syscall.Stat_t)
	other, too := there.Sys().(*syscall.Stat_t)
	if !ok || !too || one.Dev != other.Dev || j.quota.min <= 0 {
		return nil
	}
	size, err := fileSize(j.path)
	if err != nil {
		return err
	}
	free, err := j.quota.diskFree(filepath.Dir(j.path))
	if err != nil || free-size >= j.quota.min {
		return nil // if the free space is unknown, the copy itself fails when the disk is full
	}
	return fmt.Errorf("it would take %s of the %s that the disk of the journal has left, and below %s (--journal-min-free) no delivery is taken; choose another disk",
		humanize.IBytes(uint64(size)), humanize.IBytes(uint64(free)), humanize.IBytes(uint64(j.quota.min)))
}
