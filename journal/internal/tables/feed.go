package tables

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

const recordColumns = ContentColumns + `, state, origin, kept, alone`

// scanRecord reads recordColumns of a document, and what follows them.
func scanRecord(scan func(...any) error, k report.Key, more ...any) (r report.Record, state int64, err error) {
	var row commit.Row
	c, intact, err := ScanContent(scan, append([]any{(*Int)(&row.State), (*Int)(&row.Origin), (*Int)(&row.Kept), (*Flag)(&row.CodeOnly)}, more...)...)
	intact = intact && c.Key == k
	c.Key = k
	return commit.RecordOf(c, row, intact), row.State, err
}

// head is a change of the feed without its record.
type head struct {
	report.Stamp
	bytes int64 // of its record
}

// ReadFeed reads a page of the feed with an id, or with the one in the table ids if that is empty, up to
// a horizon, or to the last version if that is 0.
func (r *Reader) ReadFeed(ctx context.Context, feed string, after report.Cursor, horizon report.Version, limit, maxBytes int) (page report.FeedPage, err error) {
	kinds := make([]any, len(after.Kinds))
	for i, k := range after.Kinds {
		kinds[i] = string(k)
	}
	err = r.snapshot(ctx, func(v view) error {
		s, err := v.feedState(feed, kinds)
		if err == nil {
			err = after.Check(s)
		}
		if err != nil {
			return err
		}
		last := cmp.Or(horizon, s.Last)
		heads, err := v.heads(kinds, after.Version, limit+1)
		if err != nil {
			return err
		}
		if heads, page.More, err = cut(ctx, heads, last, limit, maxBytes); err != nil {
			return err
		}
		if page.Changes, err = v.headed(after, heads); err != nil {
			return err
		}
		page.Next = after.After(page.Changes, s.Feed, last)
		return nil
	}, "read the feed of changes of the journal")
	if err != nil {
		return report.FeedPage{}, err
	}
	return page, nil
}

// among returns the condition that a kind is one of n, which are the parameters from first on.
func among(first, n int) string {
	parameters := make([]string, n)
	for i := range parameters {
		parameters[i] = fmt.Sprintf("$%d", first+i)
	}
	return "kind IN (" + strings.Join(parameters, ", ") + ")"
}

func (v view) feedState(feed string, kinds []any) (s report.FeedState, err error) {
	var stored Text
	err = v.row(`SELECT coalesce((SELECT value FROM ids WHERE name = '`+commit.FeedName+`'), ''), `+v.engine.lastVersion()+`,
		(SELECT coalesce(max(dropped_version), 0) FROM totals WHERE `+among(1, len(kinds))+`), `+commit.HeldUntil+`, (`+commit.LostUntilQuery+`)`, kinds...).
		Scan(&stored, (*Int)(&s.Last), (*Int)(&s.Dropped), (*Int)(&s.Held), (*Int)(&s.Lost))
	s.Feed = cmp.Or(feed, string(stored))
	return s, err
}

// heads returns the next changes of each kind, in the order of their versions.
func (v view) heads(kinds []any, after report.Version, limit int) ([]head, error) {
	each := make([]string, len(kinds))
	for i := range kinds {
		each[i] = fmt.Sprintf(`SELECT * FROM (SELECT kind, id, version, `+Length+` AS bytes FROM documents
			WHERE kind = $%d AND version > $1 ORDER BY version LIMIT $2) AS heads`, 3+i)
	}
	if len(each) == 0 {
		return nil, nil
	}
	return list(v, func(scan func(...any) error) (h head, err error) {
		err = scan((*Text)(&h.Kind), (*Text)(&h.ID), (*Int)(&h.Version), &h.bytes)
		return h, err
	}, strings.Join(each, " UNION ALL ")+` ORDER BY version LIMIT $2`, append([]any{int64(after), limit}, kinds...)...)
}

// cut returns at most limit of heads, up to a version, with records of at most maxBytes together, but one
// if there is one. more tells that it left some out. The error is that of report.TryMemory for the records.
func cut(ctx context.Context, heads []head, until report.Version, limit, maxBytes int) (page []head, more bool, err error) {
	bytes := int64(0)
	for i, h := range heads {
		if h.Version > until || i == max(limit, 1) || i > 0 && bytes+h.bytes > int64(maxBytes) {
			heads, more = heads[:i], true
			break
		}
		bytes += h.bytes
	}
	return heads, more, report.TryMemory(ctx, bytes)
}

// headed reads the records of heads, which are all changes of their kinds from one version to another.
// One that is damaged is told as lost.
func (v view) headed(after report.Cursor, heads []head) ([]report.Record, error) {
	found := make(map[report.Key]report.Record, len(heads))
	for _, kind := range after.Kinds {
		var keys []report.Key
		last := after.Version
		for _, h := range heads {
			if h.Kind == kind {
				keys, last = append(keys, h.Key), h.Version
			}
		}
		if len(keys) == 0 {
			continue
		}
		records, err := v.recordsOf(keys, `version > $2 AND version <= $3 ORDER BY version`, string(kind), int64(after.Version), int64(last))
		if err != nil {
			return nil, err
		}
		for i, k := range keys {
			found[k] = records[i]
		}
	}
	all := make([]report.Record, len(heads))
	for i, h := range heads {
		all[i] = found[h.Key]
		all[i].Version = h.Version
	}
	return all, nil
}

// recordsOf reads the records of documents of a kind, which are those that a condition selects, in its
// order.
func (v view) recordsOf(keys []report.Key, condition string, args ...any) ([]report.Record, error) {
	left := keys
	all, err := list(v, func(scan func(...any) error) (r report.Record, err error) {
		var k report.Key
		if len(left) > 0 {
			k, left = left[0], left[1:]
		}
		r, _, err = scanRecord(scan, k)
		return r, err
	}, `SELECT `+recordColumns+` FROM documents WHERE kind = $1 AND `+condition, args...)
	if err == nil && len(all) == len(keys) {
		return all, nil
	}
	if err != nil && !v.hooks.IsCorrupt(err) {
		return nil, err
	}
	return oneByOne(v, recordColumns, keys, func(k report.Key, scan func(...any) error) (report.Record, error) {
		r, _, err := scanRecord(scan, k)
		return r, err
	}, func(k report.Key) report.Record {
		return report.Record{Change: report.Change{Key: k}, Lost: report.LostDamaged}
	})
}
