// Package transfer copies a journal, from one engine to the other or to the same: table by table, row
// by row (tables.Dumped). It reads the copy back and compares. The engines provide the endpoints:
// sqlite.Endpoint and postgres.Endpoint.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// Progress is the progress of a copy, in documents, which are first copied and then compared.
type Progress struct {
	Checking    bool
	Done, Total int64
}

// Report describes a finished copy, which equals the journal that was copied.
type Report struct {
	Documents   int64          `json:"documents"` // tombstones among them
	Refusals    int64          `json:"refusals"`
	Receipts    int64          `json:"receipts"`
	History     int64          `json:"history"` // entries
	Bytes       int64          `json:"bytes"`   // of the bodies of documents and refusals
	LastVersion report.Version `json:"last_version"`

	// Checksum covers all documents, refusals, receipts and history, in an order that is the
	// same for every engine. A copy of a copy has the same checksum.
	Checksum string `json:"checksum"`

	// Damaged counts the documents whose checksum is wrong, in the journal as in the copy. They
	// are never given out. Named has the first of them.
	Damaged int64        `json:"damaged"`
	Named   []report.Key `json:"damaged_documents,omitempty"`

	Loss report.Loss `json:"-"` // zero if there is none, or it was acknowledged
}

// Endpoint is a journal to copy from, or the place of one to copy to.
type Endpoint struct {
	Name string // for errors, without a password
	// OpenSource opens the journal for reading, and keeps other processes from using it.
	OpenSource func(context.Context) (*Source, error)
	// OpenTarget prepares the new journal.
	OpenTarget func(context.Context) (Target, error)
}

// Source is a journal that nobody changes while it is open.
type Source struct {
	tables.Querier // in one state of the journal
	Engine         tables.Engine
	Head           tables.Head
	IsCorrupt      func(error) bool // as in tables.Hooks
	Close          func() error
}

// Records yields the newest record of every document of a kind that is not deleted, in the order of ids.
func (s *Source) Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error] {
	return tables.NewReader(s.Engine, tables.Hooks{
		Long: func(_ context.Context, f func(tables.Querier, func() error) error) error {
			return f(s, func() error { return nil })
		},
		Open: context.Background, IsCorrupt: s.IsCorrupt,
	}).Records(ctx, kind)
}

// Target is a journal in the making.
type Target interface {
	// Insert writes the rows of a table. It returns their error unchanged.
	Insert(ctx context.Context, t *tables.Table, rows iter.Seq2[tables.Row, error]) error
	// Finish writes what a journal has besides rows.
	Finish(ctx context.Context, head tables.Head) error
	// Reader reads what was written. It is closed before publish.
	Reader(ctx context.Context) (*Source, error)
	// Publish turns the target into a journal, durably.
	Publish(ctx context.Context) error
	// Close removes everything that was not published.
	Close() error
}

// Copy copies the journal from to the new journal to. It copies everything but claims, so that all
// pending documents of the copy can be claimed at once. Damaged records are copied as they are. A
// record that cannot be read at all ends the copy with an error that names it.
//
// No process may use from, and none can begin to before Copy returns; from is not changed. An
// SQLite journal to which its last process failed to write must be opened once before. The file to must not exist; a schema must have no document, refusal or receipt.
//
// If the error is nil, the copy is durable, and was read back and compared. Otherwise there is no
// copy: the file gets its name, or the tables are committed, in the last step. If that step itself
// fails, a whole copy may be there. progress, if not nil, is called now and then by the same
// goroutine.
func Copy(ctx context.Context, from, to Endpoint, progress func(Progress)) (r Report, err error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	defer func() {
		if err != nil {
			r, err = Report{}, fmt.Errorf("copy the journal %s to %s: %w", from.Name, to.Name, err)
		}
	}()
	source, err := from.OpenSource(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := to.OpenTarget(ctx)
	if err != nil {
		return r, fmt.Errorf("make the copy: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	r, err = copyAll(ctx, source, target, progress)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // drivers have other words for it
	}
	return r, err
}

// copyAll copies what source has to target, reads that, and compares.
func copyAll(ctx context.Context, source *Source, target Target, progress func(Progress)) (Report, error) {
	had := newCopied(source.Head, func(done int64) { progress(Progress{Done: done, Total: source.Head.Documents}) })
	for _, t := range tables.Dumped {
		if err := target.Insert(ctx, t, had.rows(t, t.Rows(ctx, source, source.Engine))); err != nil {
			return Report{}, err
		}
	}
	if err := had.complete(); err != nil {
		return Report{}, err
	}
	if err := target.Finish(ctx, had.head); err != nil {
		return Report{}, err
	}
	if err := check(ctx, had, target, progress); err != nil {
		return Report{}, fmt.Errorf("check the copy: %w", err)
	}
	err := ctx.Err()
	if err == nil {
		err = target.Publish(ctx)
	}
	if err != nil {
		return Report{}, fmt.Errorf("keep the copy: %w", err)
	}
	return had.report(), nil
}

func check(ctx context.Context, had *copied, target Target, progress func(Progress)) (err error) {
	reader, err := target.Reader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	has := newCopied(reader.Head, func(done int64) { progress(Progress{Checking: true, Done: done, Total: had.head.Documents}) })
	for _, t := range tables.Dumped {
		for _, err := range has.rows(t, t.Rows(ctx, reader, reader.Engine)) {
			if err != nil {
				return err
			}
		}
	}
	if err := has.complete(); err != nil {
		return err
	}
	return has.compare(had)
}
