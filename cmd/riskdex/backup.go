package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"riskdex/journal"
	"riskdex/report"
)

type backupCommand struct {
	File    string `arg:"" help:"The copy: a file that does not exist."`
	Journal string `name:"journal" env:"RISKDEX_JOURNAL" default:"data/riskdex.db" placeholder:"FILE" help:"The journal. It may be in use."`
}

// Run copies the journal. Its error is errNegative when the copy is made, and the
// journal is damaged.
func (c *backupCommand) Run(ctx context.Context, io streams) error {
	if journal.IsPostgres(c.Journal) {
		return errors.New("a journal in PostgreSQL is backed up with PostgreSQL's own tools, such as pg_basebackup or pg_dump; riskdex journal copy makes a file of one that is not in use")
	}
	p := newProgress(io.err)
	made, err := journal.BackupSQLite(ctx, c.Journal, c.File, func(at journal.BackupProgress) {
		p.show(backupLine(at))
	})
	p.clear()
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "%s: %s, %s, checked\n", c.File, humanize.IBytes(uint64(made.Bytes)), count(int(made.Records), "record", "records"))
	if made.Damaged == 0 && made.Problem == "" {
		return nil
	}
	nameDamaged(io, made.Damaged, made.Named)
	if made.Problem != "" {
		fmt.Fprintf(io.err, "SQLite says: %s. ", oneLine(made.Problem))
	}
	fmt.Fprintln(io.err, "Keep the backups that you have.")
	return errNegative
}

// nameDamaged says which records of a journal are damaged, as far as they are named.
func nameDamaged(io streams, damaged int64, named []report.Key) {
	for _, key := range named {
		fmt.Fprintf(io.err, "damaged in the journal: %s %s\n", name(string(key.Kind)), name(string(key.ID)))
	}
	fmt.Fprintf(io.err, "%s cannot be trusted and will not be served; have the publisher deliver them again. ", count(int(damaged), "record", "records"))
}

func backupLine(at journal.BackupProgress) string {
	if at.Checking {
		return fmt.Sprintf("checking the copy: %s of %s records%s", humanize.Comma(at.Done), humanize.Comma(at.Total), percent(at.Done, at.Total))
	}
	return fmt.Sprintf("copying: %s of %s%s", humanize.IBytes(uint64(at.Done)), humanize.IBytes(uint64(at.Total)), percent(at.Done, at.Total))
}
