package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

const (
	feedQuery = `SELECT (SELECT value FROM ids WHERE name = 'feed'), (SELECT value FROM meta WHERE name = 'last_version'), ` + commit.HeldUntil

	headsQuery = `SELECT doc, id, version, coalesce(length(body), 0) FROM documents INDEXED BY documents_version
		WHERE kind = ?1 AND version > ?2 ORDER BY version LIMIT ?3`

	feedRecordQuery = `SELECT d.kind, d.id, d.version, d.op, d.code, d.accepted_at, d.crc, d.body, d.state, d.kept
		FROM documents AS d WHERE d.doc = ?1`
)

// Feed implements Journal. Versions are committed in their order, so everything up to the last
// version that is committed can be told once it is durable.
func (j *Journal) Feed(ctx context.Context, after report.Cursor, limit, maxBytes int) (page report.FeedPage, err error) {
	err = j.inSnapshot(ctx, func(tx *sql.Tx) error {
		page, err = readFeed(ctx, tx, after, limit, maxBytes)
		return err
	})
	if err == nil {
		err = j.awaitDurable(ctx)
	}
	if err != nil {
		return report.FeedPage{}, fmt.Errorf("read the feed of changes of the journal: %w", err)
	}
	return page, nil
}

// Committed implements Journal.
func (j *Journal) Committed() <-chan struct{} { return j.durable.Next() }

// awaitDurable waits until what is committed is durable.
func (j *Journal) awaitDurable(ctx context.Context) error {
	j.claims.commit.Lock()
	f := j.claims.flush
	j.claims.commit.Unlock()
	if f == nil {
		return nil
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func readFeed(ctx context.Context, tx *sql.Tx, after report.Cursor, limit, maxBytes int) (page report.FeedPage, err error) {
	var s report.FeedState
	if err := tx.QueryRowContext(ctx, feedQuery).Scan(&s.Feed, &s.Last, &s.Held); err != nil {
		return page, nonsense(err)
	}
	var heads []commit.Head
	for _, kind := range after.Kinds {
		var of report.Version
		if err := tx.QueryRowContext(ctx, `SELECT dropped_version FROM totals WHERE kind = ?`, string(kind)).Scan(&of); err != nil {
			return page, nonsense(err)
		}
		s.Dropped = max(s.Dropped, of)
		more, err := readHeads(ctx, tx, kind, after.Version, limit+1)
		if err != nil {
			return page, err
		}
		heads = append(heads, more...)
	}
	if err := after.Check(s); err != nil {
		return page, err
	}
	heads, page.More, err = commit.Page(ctx, heads, limit, maxBytes)
	if err != nil {
		return page, err
	}
	if len(heads) > 0 {
		if page.Changes, err = readHeaded(ctx, tx, heads); err != nil {
			return page, err
		}
	}
	page.Next = after.After(page.Changes, s.Feed, s.Last)
	return page, nil
}

func readHeads(ctx context.Context, tx *sql.Tx, kind report.Kind, after report.Version, limit int) (heads []commit.Head, err error) {
	rows, err := tx.QueryContext(ctx, headsQuery, string(kind), int64(after), limit)
	err = forRows(rows, err, func(scan func(...any) error) error {
		var id looseText
		h := commit.Head{Key: report.Key{Kind: kind}}
		if err := scan(&h.Doc, &id, &h.Version, &h.Bytes); err != nil {
			return nonsense(err)
		}
		h.ID = report.ID(id)
		heads = append(heads, h)
		return nil
	})
	return heads, err
}

// readHeaded reads the records of heads. One that is damaged is told as lost.
func readHeaded(ctx context.Context, tx *sql.Tx, heads []commit.Head) ([]report.Record, error) {
	stmt, err := tx.PrepareContext(ctx, feedRecordQuery)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	list := make([]report.Record, 0, len(heads))
	for _, h := range heads {
		r, err := scanRecord(stmt.QueryRowContext(ctx, h.Doc).Scan, h.Kind)
		switch {
		case isCorrupt(err):
			r.Record = report.Record{Lost: report.LostDamaged}
		case err != nil:
			return nil, fmt.Errorf("read %s %q: %w", h.Kind, h.ID, err)
		}
		r.Key, r.Version = h.Key, h.Version
		list = append(list, r.Record)
	}
	return list, nil
}
