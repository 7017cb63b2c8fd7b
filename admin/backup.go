package admin

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"

	"riskdex/report"
)

// Backups copies the journal.
type Backups interface {
	// Backup copies the journal to a new file. It calls tell with its progress, from the
	// goroutine that called it. It ends soon after ctx.
	Backup(ctx context.Context, file string, tell func(report.BackupProgress)) (report.BackupReport, error)
}

// JournalInfo identifies the journal that a riskdex uses.
type JournalInfo struct {
	Name   string `json:"name"`   // the path of the file, or the URL
	Engine string `json:"engine"` // sqlite or postgres
}

// BackupEvent is one line of the answer to a call for a backup. One of its members is set. The
// answer is complete if its last line is a report.
type BackupEvent struct {
	Progress *report.BackupProgress `json:"progress,omitempty"`
	Report   *BackupReport          `json:"report,omitempty"`
}

// BackupReport is the result of a backup. Without an error, the copy is durable and has been
// checked.
type BackupReport struct {
	Error   string `json:"error,omitempty"` // why there is no copy
	Journal string `json:"journal"`
	File    string `json:"file"`
	report.BackupReport
}

// backups answers the call that asks which journal is in use, and the call for a copy of it.
type backups struct {
	journal JournalInfo
	maker   Backups // nil if riskdex makes no backups
	log     *slog.Logger
}

func (b *backups) calls() []call {
	return []call{{http.MethodGet, "/api/journal", "", func(*request) (any, error) { return b.journal, nil }}}
}

func (b *backups) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, err := b.file(&request{r})
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stream := newEventStream(w, cancel)
	copied, err := b.maker.Backup(ctx, file, func(p report.BackupProgress) { stream.send(BackupEvent{Progress: &p}, true, true) })
	if cause := context.Cause(ctx); cause != nil {
		b.log.InfoContext(ctx, "backup given up: the client left", "file", file, "cause", cause)
		return
	}
	made := BackupReport{Journal: b.journal.Name, File: file, BackupReport: copied}
	if err != nil {
		b.log.ErrorContext(ctx, "backup failed", "file", file, "error", err)
		made.Error = err.Error()
	} else {
		b.log.InfoContext(ctx, "backup made", "file", file, "bytes", made.Bytes, "records", made.Records, "damaged", made.Damaged)
	}
	stream.send(BackupEvent{Report: &made}, false, true)
}

// file returns the file that a query names.
func (b *backups) file(r *request) (string, error) {
	if err := r.checkQuery("file"); err != nil {
		return "", err
	}
	if b.maker == nil {
		return "", &Problem{Status: http.StatusConflict, Detail: "The journal is in PostgreSQL: back it up with PostgreSQL's own tools, such as pg_basebackup or pg_dump."}
	}
	file := r.text("file")
	if !filepath.IsAbs(file) {
		return "", badRequest(fmt.Sprintf("Say which file in the query, with its whole path on the machine of riskdex: file is %q.", file))
	}
	return filepath.Clean(file), nil
}
