// Package transfer copies a journal from one engine to the other, or to the same. It reads
// a stream of records that belong to neither engine, has them written, reads the copy back
// and compares. The engines are the ends: sqlite.Endpoint and postgres.Endpoint.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"riskdex/report"
)

// Progress is how far a copy has come, in documents: first it copies them, then it
// reads the copy.
type Progress struct {
	Checking    bool
	Done, Total int64
}

// Report is what a finished copy has. The journal that was copied has the same.
type Report struct {
	Documents, Refusals, Receipts int64 // tombstones are documents
	Bytes                         int64 // of the bodies of documents and refusals
	LastVersion                   report.Version

	// Checksum is over all documents, refusals and receipts, in an order that is the
	// same for every engine. A copy of a copy has the same one.
	Checksum string

	// Damaged is how many documents cannot be trusted, in the journal as in the copy:
	// none is ever given out. Named are the first of them.
	Damaged int64
	Named   []report.Key

	Loss report.Loss // until somebody acknowledges it
}

// Endpoint is a journal that can be copied, or where one is to be made.
type Endpoint struct {
	Name string // for errors, without what a URL could give away
	// OpenSource opens the journal for reading, and keeps others from using it.
	OpenSource func(context.Context) (Source, error)
	// OpenTarget prepares what is to become the journal.
	OpenTarget func(context.Context) (Target, error)
}

// Copy copies the journal from to a new one, to. Everything is copied but claims: every
// document that waits can be claimed at once from the copy. A damaged record stays as it is,
// and damaged; one that cannot be read at all ends the copy with an error that names it.
//
// No process may use from, and none can begin to before Copy returns. Nothing of it
// changes. An SQLite journal of an older schema, or one that its last process could not
// write, has to be opened once before. In the place of to there must be no file, or in
// its schema no document, refusal or receipt.
//
// When the error is nil, the copy is durable, and was read back and compared with all
// that was read from the journal. Otherwise there is none: a file gets its name, and
// tables are committed, at the end. Only where that very step failed the copy may be
// there, and then it is whole. progress, if not nil, is
// called now and then, by the same goroutine.
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
	return copyAll(ctx, source, target, progress)
}

// copyAll copies what source has to target, reads that, and compares.
func copyAll(ctx context.Context, source Source, target Target, progress func(Progress)) (Report, error) {
	had, err := newCopied(ctx, source)
	if err != nil {
		return Report{}, err
	}
	had.progress = func(done int64) { progress(Progress{Done: done, Total: had.head.Documents}) }
	err = target.Write(ctx, had.head, had.documents(source.Documents(ctx)), had.refusals(source.Refusals(ctx)), had.receipts(source.Receipts(ctx)))
	if err == nil {
		err = had.complete()
	}
	if err != nil {
		return Report{}, err
	}
	if err := check(ctx, had, target, progress); err != nil {
		return Report{}, fmt.Errorf("check the copy: %w", err)
	}
	err = ctx.Err()
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
	has, err := newCopied(ctx, reader)
	if err != nil {
		return err
	}
	has.progress = func(done int64) { progress(Progress{Checking: true, Done: done, Total: had.head.Documents}) }
	if err := drain(has.documents(reader.Documents(ctx))); err != nil {
		return err
	}
	if err := drain(has.refusals(reader.Refusals(ctx))); err != nil {
		return err
	}
	if err := drain(has.receipts(reader.Receipts(ctx))); err != nil {
		return err
	}
	if err := has.complete(); err != nil {
		return err
	}
	return has.compare(had)
}

// drain reads to the end.
func drain[T any](records iter.Seq2[T, error]) error {
	for _, err := range records {
		if err != nil {
			return err
		}
	}
	return nil
}
