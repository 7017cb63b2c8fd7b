package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/admin"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

type restoreCommand struct {
	adminSettings
	File               string `arg:"" help:"The copy to restore: made by riskdex backup, or moved aside by an earlier restore. It is not changed."`
	Journal            string `name:"journal" env:"RISKDEX_JOURNAL" placeholder:"FILE" help:"The journal; by default data/riskdex.db, which must then exist."`
	FromAnotherJournal bool   `name:"from-another-journal" help:"Also if the existing journal is another one, such as an empty one that riskdex was started on since, or cannot be read."`
	Damaged            bool   `name:"damaged" help:"Also if records of the copy are damaged. They are not served, and have to be delivered again."`
}

// defaultJournal is the journal of riskdex serve by default.
const defaultJournal = "data/riskdex.db"

// Run puts the copy in place of the journal. The error is errNegative if that is done but the
// copy is damaged.
func (c *restoreCommand) Run(ctx context.Context, io streams) error {
	path, err := c.path(ctx, io)
	if err != nil {
		return err
	}
	p := newProgress(io.err)
	opt := sqlite.RestoreOptions{Damaged: c.Damaged, AnotherJournal: c.FromAnotherJournal}
	made, err := sqlite.Restore(ctx, c.File, path, opt, func(at report.BackupProgress) { p.show(backupLine(at)) })
	p.clear()
	damaged := printDamage(io, "copy", made.BackupReport)
	switch {
	case errors.Is(err, sqlite.ErrDamaged):
		return fmt.Errorf("%w; nothing was changed. Take another copy; or, if there is none, --damaged restores what can be read", err)
	case err != nil && made.Path != "":
		return fmt.Errorf("%w. The restore was begun, and continues when riskdex starts on this journal, or restores it again", err)
	case err != nil:
		return fmt.Errorf("%w. Nothing was changed", err)
	}
	c.print(io, made)
	if damaged {
		return errNegative
	}
	return nil
}

// path returns the file of the journal. If the flag does not name it, the default journal must
// exist and no riskdex may be running, because this command and riskdex may have been started
// in different folders.
func (c *restoreCommand) path(ctx context.Context, io streams) (string, error) {
	if postgres.IsURL(c.Journal) {
		return "", errors.New("a journal in PostgreSQL is restored with PostgreSQL's own tools, such as pg_restore, into an empty schema while no riskdex runs; " +
			"riskdex journal copy moves a journal in a file there. What was acknowledged after the copy was made is not noticed then: ask the publisher to deliver everything again")
	}
	if c.Journal != "" {
		return filepath.Abs(c.Journal)
	}
	path, err := filepath.Abs(defaultJournal)
	if err == nil {
		if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is no journal at %s; say with --journal where it is, or where it should be", path)
		}
	}
	if err != nil {
		return "", err
	}
	return path, c.refuseWhileItRuns(ctx, io)
}

// refuseWhileItRuns returns an error, which names the journal in use, if a riskdex is running.
func (c *restoreCommand) refuseWhileItRuns(ctx context.Context, io streams) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var at admin.JournalInfo
	err = client.ask(ctx, http.MethodGet, "/api/journal", nil, nil, &at)
	if _, answered := errors.AsType[*admin.Problem](err); answered {
		return fmt.Errorf("a riskdex runs at %s: stop it first, or name the journal with --journal", redacted(client.base))
	}
	if err == nil {
		return fmt.Errorf("a riskdex runs at %s, on the journal %s: stop it first and use --journal %s, or name another journal", redacted(client.base), at.Name, at.Name)
	}
	return nil // no riskdex answers
}

// askTimeout bounds how long riskdex may take to say which journal it uses.
const askTimeout = 5 * time.Second

func (c *restoreCommand) print(io streams, made sqlite.RestoreReport) {
	fmt.Fprintf(io.out, "%s: restored from %s, %s, %s, checked\n", made.Path, c.File, humanize.IBytes(uint64(made.Bytes)), count(int(made.Records), "record", "records"))
	facts := []string{"newest change", "none"}
	if !made.Newest.IsZero() {
		facts[1] = agoAndAt(made.Newest)
	}
	switch {
	case made.After > 0:
		facts = append(facts, "accepted since", count(int(made.After), "change", "changes")+", not in it")
	case made.After < 0:
		facts = append(facts, "accepted since", "not known")
	}
	if made.Aside != "" {
		facts = append(facts, "what was there", made.Aside+" and what begins so; remove it when all is well")
	}
	printFacts(io.out, facts...)
	next := "Start riskdex, and then: riskdex verify --repair."
	if made.Loss.Lost() {
		next = fmt.Sprintf("Changes that were acknowledged %s may be missing. Start riskdex, ask the publisher to deliver again what it sent in that time, "+
			"and then: riskdex journal acknowledge-loss, and riskdex verify --repair.", made.Loss.Span())
	}
	fmt.Fprintln(io.err, next)
}
