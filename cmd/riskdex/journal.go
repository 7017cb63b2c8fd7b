package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/journal/transfer"
)

type journalCommand struct {
	Copy journalCopyCommand `cmd:"" help:"Copy a journal that is not in use from a file to PostgreSQL, or back."`

	AcknowledgeLoss acknowledgeLossCommand `cmd:"" help:"Confirm that what the journal lacked was delivered again."`
}

// journalOptions returns the options of the journal. It logs a warning about settings that
// have no effect, because somebody may rely on them.
func (c *serveCommand) journalOptions(log *slog.Logger) journal.Options {
	opt := journal.Options{MaxBytes: int64(c.MaxBytes), KeepDeleted: time.Duration(c.KeepDeleted), History: time.Duration(c.History), HistoryMaxBytes: int64(c.HistoryMax), Log: log}
	if c.BackupEvery > 0 && postgres.IsURL(c.Journal) {
		log.Warn("--backup-every has no effect: the journal is in PostgreSQL, whose own tools back it up. Have those watched")
	}
	switch {
	case c.MinFree == nil:
	case postgres.IsURL(c.Journal):
		log.Warn("--journal-min-free has no effect: the journal is in PostgreSQL, whose disk riskdex does not see. Have that watched, and give --journal-max-bytes for a bound")
	default:
		opt.MinFree = int64(*c.MinFree)
	}
	return opt
}

// backupEvery returns how old the newest backup may become, or 0 if it may be of any age.
func (c *serveCommand) backupEvery() time.Duration {
	if postgres.IsURL(c.Journal) {
		return 0
	}
	return time.Duration(c.BackupEvery)
}

// openNamed opens the journal in a file, or in the PostgreSQL database that a URL
// names.
func openNamed(ctx context.Context, name string, opt journal.Options) (journal.Journal, error) {
	if !postgres.IsURL(name) {
		return sqlite.Open(ctx, name, opt)
	}
	if err := refusePassword(name); err != nil {
		return nil, err
	}
	return postgres.Open(ctx, name, opt)
}

// inspectNamed looks at the journal that openNamed would open.
func inspectNamed(ctx context.Context, name string, log *slog.Logger) (journal.Inspection, error) {
	if !postgres.IsURL(name) {
		return sqlite.Inspect(ctx, name)
	}
	return postgres.Inspect(ctx, name, log)
}

// endpointNamed is the journal that openNamed would open, for copying.
func endpointNamed(name string) transfer.Endpoint {
	if !postgres.IsURL(name) {
		return sqlite.Endpoint(name)
	}
	return postgres.Endpoint(name)
}

// refusePassword returns an error if the name of a journal exposes a password.
func refusePassword(name string) error {
	if !postgres.IsURL(name) || !hasPassword(name) {
		return nil
	}
	return errors.New("the URL of the journal has a password in it, which every user of this machine can read in the list of processes; " +
		"give it in the environment as PGPASSWORD, or in a file that PGPASSFILE names")
}

func hasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false // opening it fails as well
	}
	_, set := u.User.Password()
	return set || u.Query().Has("password") || u.Query().Has("sslpassword")
}
