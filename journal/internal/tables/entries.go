package tables

import (
	"context"
	"slices"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

const entryColumns = `SELECT id, version, op, state FROM documents WHERE kind = $1 AND id`

func scanEntry(kind report.Kind) func(func(...any) error) (report.Entry, error) {
	return func(scan func(...any) error) (e report.Entry, err error) {
		var state Int
		e.Kind = kind
		err = scan((*Text)(&e.ID), (*Int)(&e.Version), (*Text)(&e.Op), &state)
		e.State = commit.StateName(int64(state))
		return e, err
	}
}

// Entries implements Journal.
func (r *Reader) Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) (all []report.Entry, err error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	err = r.read(ctx, func(v view) error {
		all, err = list(v, scanEntry(kind), entryColumns+` > $2 ORDER BY id LIMIT $3`, string(kind), r.engine.text(string(after)), max(limit, 0))
		return err
	}, "list the %s in the journal after %q", kind, after)
	return all, err
}

// lookupChunk is how many ids are looked up by one statement.
const lookupChunk = 500

// Lookup implements Journal.
func (r *Reader) Lookup(ctx context.Context, kind report.Kind, ids []report.ID) (all []report.Entry, err error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	err = r.read(ctx, func(v view) error {
		for chunk := range slices.Chunk(ids, lookupChunk) {
			condition, args := r.engine.anyOf(2, chunk)
			found, err := list(v, scanEntry(kind), entryColumns+condition, append([]any{string(kind)}, args...)...)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		return nil
	}, "look up %d %s in the journal", len(ids), kind)
	return all, err
}

// Newest implements Journal.
func (r *Reader) Newest(ctx context.Context, kind report.Kind, limit int) (all []report.Stamp, err error) {
	err = r.read(ctx, func(v view) error {
		all, err = list(v, func(scan func(...any) error) (s report.Stamp, err error) {
			s.Kind = kind
			err = scan((*Text)(&s.ID), (*Int)(&s.Version))
			return s, err
		}, `SELECT id, version FROM documents WHERE kind = $1 ORDER BY version DESC LIMIT $2`, string(kind), limit)
		return err
	}, "find the newest %s in the journal", kind)
	return all, err
}

// Documents implements Journal. It counts from an index alone: rows of all sizes need not be read.
func (r *Reader) Documents(ctx context.Context, kind report.Kind) (n int, err error) {
	if err := report.CheckKind(kind); err != nil {
		return 0, err
	}
	err = r.read(ctx, func(v view) error {
		return v.row(`SELECT (SELECT count(*) FROM documents WHERE kind = $1) - CAST(coalesce((SELECT sum(tombstones) FROM totals WHERE kind = $1), 0) AS bigint)`,
			string(kind)).Scan(&n)
	}, "count the %s in the journal", kind)
	return n, err
}

// Contents returns the content of the first of stamps that are the newest version of their document, up
// to the bounds of one request to the writer, and the other stamps. unreadable is told of those that
// the database cannot read.
func (r *Reader) Contents(ctx context.Context, stamps []report.Stamp, unreadable func(report.Stamp, error)) (all []commit.Content, rest []report.Stamp, err error) {
	err = r.read(ctx, func(v view) error {
		size := 0
		for i, s := range stamps {
			if len(all) == commit.MaxBatch || size > commit.MaxGroupBytes {
				rest = stamps[i:]
				return nil
			}
			found, err := list(v, func(scan func(...any) error) (c commit.Content, err error) {
				c.Change, c.Intact, err = ScanContent(scan)
				c.Intact = c.Intact && c.Key == s.Key
				c.Key = s.Key
				return c, err
			}, `SELECT `+ContentColumns+` FROM documents WHERE kind = $1 AND id = $2`, v.document(s.Key)...)
			switch {
			case v.hooks.IsCorrupt(err):
				unreadable(s, err)
				continue
			case err != nil:
				return err
			}
			for _, c := range found {
				if c.Version == s.Version {
					all = append(all, c)
					size += len(c.Body)
				}
			}
		}
		return nil
	}, "read documents")
	return all, rest, err
}
