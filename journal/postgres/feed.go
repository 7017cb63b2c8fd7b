package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Feed implements Journal.
func (j *Journal) Feed(ctx context.Context, after report.Cursor, limit, maxBytes int) (page report.FeedPage, err error) {
	err = j.read("read the feed of changes of the journal", func() error {
		feed, err := j.feedID(ctx)
		if err != nil {
			return err
		}
		// If nothing is committed after the cursor, no horizon is needed.
		if page, err = j.readFeed(ctx, feed, after, noHorizon, limit, maxBytes); err != nil || len(page.Changes) == 0 && !after.Begins() {
			return err
		}
		horizon, err := j.horizon(ctx)
		if err != nil {
			return err
		}
		page, err = j.readFeed(ctx, feed, after, horizon, limit, maxBytes)
		return err
	})
	if err != nil {
		return report.FeedPage{}, err
	}
	return page, nil
}

// Committed implements Journal.
func (j *Journal) Committed() <-chan struct{} { return j.committed.Next() }

// horizon returns a version up to which every change is committed or never will be.
//
// A transaction that takes versions holds a lock on their sequence until it ends. So horizon
// takes a version itself, which all later ones exceed, and waits for the transactions that hold
// the lock at that moment. A transaction that is rolled back returns its versions only if nobody
// has taken a later one, so no version below the horizon is given out again.
func (j *Journal) horizon(ctx context.Context) (v report.Version, err error) {
	err = j.inTransaction(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, $2)", j.keys.class, int32(lockVersions)); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "SELECT setval('versions', last_value + 1) FROM versions").Scan(&v)
	})
	if err != nil {
		return 0, err
	}
	const taking = ` FROM pg_locks WHERE locktype = 'relation' AND relation = 'versions'::regclass AND mode = 'RowExclusiveLock' AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	var list []string
	if err := j.pool.QueryRow(ctx, "SELECT coalesce(array_agg(virtualtransaction), '{}')"+taking).Scan(&list); err != nil {
		return 0, err
	}
	for wait := time.Millisecond; len(list) > 0; wait = min(2*wait, 50*time.Millisecond) {
		if err := commit.Sleep(ctx, wait); err != nil {
			return 0, fmt.Errorf("wait for transactions that may be of earlier versions: %w", err)
		}
		if err := j.pool.QueryRow(ctx, "SELECT coalesce(array_agg(virtualtransaction), '{}')"+taking+" AND virtualtransaction = ANY($1)", list).Scan(&list); err != nil {
			return 0, err
		}
	}
	return v, nil
}

// feedID returns the id of the feed. It changes when the tables are created anew, and with each
// failover, recovery to an earlier time or loss that is noticed, since what was told may be lost then.
func (j *Journal) feedID(ctx context.Context) (string, error) {
	text := fmt.Appendf(nil, "%s %d", j.lineage, uint32(j.keys.class))
	var server string
	if err := j.pool.QueryRow(ctx, "SELECT "+thisServer).Scan(&server); err != nil {
		return "", err
	}
	if !j.given.isCompared(server) {
		if err := j.compareServer(ctx); err != nil {
			return "", err
		}
	}
	for _, query := range []string{
		"SELECT coalesce((SELECT value FROM ids WHERE name = '" + commit.FeedName + "'), '')",
		"SELECT system_identifier::text FROM pg_control_system()",
		"SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)", // the timeline
	} {
		var part string
		if err := j.pool.QueryRow(ctx, query).Scan(&part); err != nil && !neverTells(err) {
			return "", err
		}
		text = append(text, " "+part...)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:20], nil
}

// neverTells reports whether err is permanent: the server lacks the function, or does not permit
// its use.
func neverTells(err error) bool {
	switch code(err) {
	case "42501", "42883", "0A000": // privilege, no such function, not supported
		return true
	}
	return false
}

// noHorizon is above all versions.
const noHorizon = report.Version(1<<63 - 1)

// readFeed reads a page of the feed, up to a horizon.
func (j *Journal) readFeed(ctx context.Context, feed string, after report.Cursor, horizon report.Version, limit, maxBytes int) (page report.FeedPage, err error) {
	kinds := make([]string, len(after.Kinds))
	for i, k := range after.Kinds {
		kinds[i] = string(k)
	}
	err = j.inSnapshot(ctx, func(tx pgx.Tx) error {
		s := report.FeedState{Feed: feed}
		err := tx.QueryRow(ctx, `SELECT last_value, (SELECT coalesce(max(dropped_version), 0) FROM totals WHERE kind = ANY($1)), `+
			commit.HeldUntil+` FROM versions`, kinds).Scan(&s.Last, &s.Dropped, &s.Held)
		if err == nil {
			err = after.Check(s)
		}
		if err != nil {
			return err
		}
		heads, err := readHeads(ctx, tx, kinds, after.Version, horizon, limit+1)
		if err != nil {
			return err
		}
		heads, page.More, err = commit.Page(ctx, heads, limit, maxBytes)
		if err != nil {
			return err
		}
		if page.Changes, err = readHeaded(ctx, tx, after.Kinds, heads); err != nil {
			return err
		}
		page.Next = after.After(page.Changes, feed, horizon)
		return nil
	})
	return page, err
}

func readHeads(ctx context.Context, tx pgx.Tx, kinds []string, after, horizon report.Version, limit int) ([]commit.Head, error) {
	rows, err := tx.Query(ctx, `SELECT h.* FROM unnest($1::text[]) AS k (kind) CROSS JOIN LATERAL (
			SELECT d.kind, d.id, d.version, coalesce(length(d.body), 0) FROM documents d
			WHERE d.kind = k.kind AND d.version > $2 AND d.version <= $3 ORDER BY d.version LIMIT $4
		) AS h ORDER BY h.version LIMIT $4`, kinds, int64(after), int64(horizon), limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (h commit.Head, err error) {
		var kind string
		var id []byte
		err = r.Scan(&kind, &id, &h.Version, &h.Bytes)
		h.Key = report.Key{Kind: report.Kind(kind), ID: report.ID(id)}
		return h, err
	})
}

// readHeaded reads the records of heads.
func readHeaded(ctx context.Context, tx pgx.Tx, kinds []report.Kind, heads []commit.Head) ([]report.Record, error) {
	if len(heads) == 0 {
		return nil, nil
	}
	found := make(map[report.Key]report.Record, len(heads))
	for _, kind := range kinds {
		var ids [][]byte
		for _, h := range heads {
			if h.Kind == kind {
				ids = append(ids, []byte(h.ID))
			}
		}
		records, err := recordsOf(ctx, tx, kind, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			found[r.Key] = r
		}
	}
	list := make([]report.Record, len(heads))
	for i, h := range heads {
		list[i] = found[h.Key]
	}
	return list, nil
}
