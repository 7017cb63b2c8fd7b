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
func (j *Journal) Feed(ctx context.Context, after report.Cursor, limit, maxBytes int) (report.FeedPage, error) {
	const what = "read the feed of changes of the journal: %w"
	if err := j.closed(); err != nil {
		return report.FeedPage{}, fmt.Errorf(what, err)
	}
	feed, err := j.feedID(ctx)
	if err != nil {
		return report.FeedPage{}, fmt.Errorf(what, err)
	}
	// If nothing is committed after the cursor, no horizon is needed.
	page, err := j.ReadFeed(ctx, feed, after, noHorizon, limit, maxBytes)
	if err != nil || len(page.Changes) == 0 && !after.Begins() {
		return page, err
	}
	horizon, err := j.horizon(ctx)
	if err != nil {
		return report.FeedPage{}, fmt.Errorf(what, err)
	}
	return j.ReadFeed(ctx, feed, after, horizon, limit, maxBytes)
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
// failover, recovery to an earlier time or loss that is acknowledged, since what was told may be lost then.
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
