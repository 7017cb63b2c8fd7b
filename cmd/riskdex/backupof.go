package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"riskdex/admin"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// journalInfo identifies the journal that riskdex serve uses, so that nobody has to guess it
// from the folder that a command is run in.
func journalInfo(name string) admin.JournalInfo {
	if postgres.IsURL(name) {
		return admin.JournalInfo{Name: redacted(name), Engine: "postgres"}
	}
	if path, err := filepath.Abs(name); err == nil {
		name = path
	}
	return admin.JournalInfo{Name: name, Engine: "sqlite"}
}

// backupsOf returns what lets the admin listener copy a journal in a file, or nil for a
// journal of another engine.
func backupsOf(j journal.Journal) admin.Backups {
	if j, ok := j.(*sqlite.Journal); ok {
		return fileBackups{j}
	}
	return nil
}

type fileBackups struct{ journal *sqlite.Journal }

// Backup implements admin.Backups.
func (b fileBackups) Backup(ctx context.Context, file string, tell func(report.BackupProgress)) (report.BackupReport, error) {
	begun := time.Now()
	made, err := b.journal.Backup(ctx, file, tell)
	if err == nil && made.Damaged == 0 && made.Problem == "" {
		noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
		defer cancel()
		if err = b.journal.Note(noting, report.BackupNote, report.NoteOfTime(begun)); err != nil {
			err = fmt.Errorf("the copy is made and checked, but the journal could not note when: %w", err)
		}
	}
	return made, err
}
