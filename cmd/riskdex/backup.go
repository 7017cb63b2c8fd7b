package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

type backupCommand struct {
	adminSettings
	File    string `arg:"" help:"The copy: a file that does not exist, on the machine of riskdex."`
	Journal string `name:"journal" placeholder:"FILE" help:"Copy this journal, whether or not a riskdex is using it, without asking a running one."`
	JSON    bool   `name:"json" help:"Print the result as one JSON object."`
}

// Run asks the running riskdex to copy its journal, because this command cannot know which
// journal that is from the folder that it is run in. The error is errNegative if the copy was
// made but the journal is damaged.
func (c *backupCommand) Run(ctx context.Context, io streams) error {
	p := newProgress(io.err)
	made, err := c.copy(ctx, io, p)
	p.clear()
	if err != nil {
		return err
	}
	if c.JSON {
		if err := json.NewEncoder(io.out).Encode(made); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(io.out, "%s: %s, %s, checked; a copy of %s\n", made.File, humanize.IBytes(uint64(made.Bytes)), count(int(made.Records), "record", "records"), made.Journal)
	}
	if printDamage(io, "journal", made.BackupReport) {
		fmt.Fprintln(io.err, "Keep the backups that you have.")
		return errNegative
	}
	return nil
}

func (c *backupCommand) copy(ctx context.Context, io streams, p *progress) (made admin.BackupReport, err error) {
	if c.Journal == "" {
		return c.ask(ctx, io, p)
	}
	if postgres.IsURL(c.Journal) {
		return made, errors.New("a journal in PostgreSQL is backed up with PostgreSQL's own tools, such as pg_basebackup or pg_dump; riskdex journal copy makes a file of one that is not in use")
	}
	copied, err := sqlite.Backup(ctx, c.Journal, c.File, func(at report.BackupProgress) { p.show(backupLine(at)) })
	return admin.BackupReport{Journal: journalInfo(c.Journal).Name, File: c.File, BackupReport: copied}, err
}

// ask has riskdex make the copy.
func (c *backupCommand) ask(ctx context.Context, io streams, p *progress) (made admin.BackupReport, err error) {
	file, err := filepath.Abs(c.File)
	if err != nil {
		return made, err
	}
	client, err := c.client(io)
	if err != nil {
		return made, err
	}
	res, err := client.open(ctx, http.MethodPost, "/api/journal/backup", query("file", file), nil)
	if _, answered := errors.AsType[*admin.Problem](err); err != nil && !answered && ctx.Err() == nil {
		return made, fmt.Errorf("%w. Nothing was copied; to copy a journal that no riskdex uses, name it: --journal FILE", err)
	}
	if err != nil {
		return made, err
	}
	defer res.Body.Close()
	for events := json.NewDecoder(res.Body); ; {
		var e admin.BackupEvent
		if err := events.Decode(&e); err != nil {
			return made, fmt.Errorf("the backup was interrupted; if %s exists nevertheless, it is complete: %w", file, cmp.Or(ctx.Err(), err))
		}
		switch {
		case e.Progress != nil:
			p.show(backupLine(*e.Progress))
		case e.Report != nil && e.Report.Error != "":
			return made, fmt.Errorf("riskdex, which makes the copy as its own user: %s", e.Report.Error)
		case e.Report != nil:
			return *e.Report, nil
		}
	}
}

// printDamage prints what is damaged in a copy, and reports whether anything is.
func printDamage(io streams, where string, made report.BackupReport) bool {
	if made.Damaged == 0 && made.Problem == "" {
		return false
	}
	printDamagedKeys(io, where, made.Damaged, made.Named)
	if made.Problem != "" {
		fmt.Fprintf(io.err, "SQLite says: %s. ", sanitize.OneLine(made.Problem))
	}
	return true
}

// printDamagedKeys prints how many records are damaged, and the keys of those that are named.
// where says what they are in: the journal or the backup.
func printDamagedKeys(io streams, where string, damaged int64, named []report.Key) {
	for _, key := range named {
		fmt.Fprintf(io.err, "damaged in the %s: %s %s\n", where, sanitize.ShellWord(string(key.Kind)), sanitize.ShellWord(string(key.ID)))
	}
	fmt.Fprintf(io.err, "%s cannot be trusted and will not be served; ask the publisher to deliver them again. ", count(int(damaged), "record", "records"))
}

func backupLine(at report.BackupProgress) string {
	if at.Checking {
		return fmt.Sprintf("checking the copy: %s of %s records%s", humanize.Comma(at.Done), humanize.Comma(at.Total), percent(at.Done, at.Total))
	}
	return fmt.Sprintf("copying: %s of %s%s", humanize.IBytes(uint64(at.Done)), humanize.IBytes(uint64(at.Total)), percent(at.Done, at.Total))
}
