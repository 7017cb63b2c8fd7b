package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"riskdex/report"
)

// CopyProgress is how far a copy has come, in documents: first it copies them, then it
// reads the copy.
type CopyProgress struct {
	Checking    bool
	Done, Total int64
}

// CopyReport is what a finished copy has. The journal that was copied has the same.
type CopyReport struct {
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

// Copy copies the journal from to a new one, to. Each is the name of a file, or the URL
// of a PostgreSQL database. Everything is copied but claims: every document that waits
// can be claimed at once from the copy. A damaged record stays as it is, and damaged;
// one that cannot be read at all ends the copy with an error that names it.
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
func Copy(ctx context.Context, from, to string, progress func(CopyProgress)) (r CopyReport, err error) {
	if progress == nil {
		progress = func(CopyProgress) {}
	}
	defer func() {
		if err != nil {
			r, err = CopyReport{}, fmt.Errorf("copy the journal %s to %s: %w", shown(from), shown(to), err)
		}
	}()
	source, err := openCopySource(ctx, from)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	target, err := openCopyTarget(ctx, to)
	if err != nil {
		return r, fmt.Errorf("make the copy: %w", err)
	}
	defer func() { err = errors.Join(err, target.close()) }()
	return copyAll(ctx, source, target, progress)
}

// shown is the name of a journal without what a URL could give away.
func shown(name string) string {
	if IsPostgres(name) {
		return "in PostgreSQL"
	}
	return name
}

func openCopySource(ctx context.Context, name string) (copySource, error) {
	if IsPostgres(name) {
		return openPostgresCopySource(ctx, name)
	}
	return openSQLiteCopySource(ctx, name)
}

func openCopyTarget(ctx context.Context, name string) (copyTarget, error) {
	if IsPostgres(name) {
		return openPostgresCopyTarget(ctx, name)
	}
	return openSQLiteCopyTarget(ctx, name)
}

// copyAll copies what source has to target, reads that, and compares.
func copyAll(ctx context.Context, source copySource, target copyTarget, progress func(CopyProgress)) (CopyReport, error) {
	had, err := newCopied(ctx, source)
	if err != nil {
		return CopyReport{}, err
	}
	had.progress = func(done int64) { progress(CopyProgress{Done: done, Total: had.head.documents}) }
	err = target.write(ctx, had.head, had.documents(source.documents(ctx)), had.refusals(source.refusals(ctx)), had.receipts(source.receipts(ctx)))
	if err == nil {
		err = had.complete()
	}
	if err != nil {
		return CopyReport{}, err
	}
	if err := check(ctx, had, target, progress); err != nil {
		return CopyReport{}, fmt.Errorf("check the copy: %w", err)
	}
	err = ctx.Err()
	if err == nil {
		err = target.publish(ctx)
	}
	if err != nil {
		return CopyReport{}, fmt.Errorf("keep the copy: %w", err)
	}
	return had.report(), nil
}

func check(ctx context.Context, had *copied, target copyTarget, progress func(CopyProgress)) (err error) {
	reader, err := target.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.close()) }()
	has, err := newCopied(ctx, reader)
	if err != nil {
		return err
	}
	has.progress = func(done int64) { progress(CopyProgress{Checking: true, Done: done, Total: had.head.documents}) }
	if err := drain(has.documents(reader.documents(ctx))); err != nil {
		return err
	}
	if err := drain(has.refusals(reader.refusals(ctx))); err != nil {
		return err
	}
	if err := drain(has.receipts(reader.receipts(ctx))); err != nil {
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
