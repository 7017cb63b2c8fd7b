package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// given is what this process remembers of what the journal gave out, so that it notices when the
// server comes back in an older state: restored from a copy, rewound to a point in time, or failed
// over to a standby that lagged. The first transaction on a server that was started anew compares,
// before it changes anything, and Claim gives out nothing before that.
type given struct {
	mu     sync.Mutex
	server string // the one that was compared last
	newest map[report.Kind][]report.Stamp
	seen   map[report.Kind]string // the server of the last Claim
}

// maxGiven is how many stamps of a kind are remembered: a few, since a set-back loses the newest.
const maxGiven = 16

// thisServer is what tells a server from the same one that was started anew, and from another one.
const thisServer = "pg_postmaster_start_time()::text || ' ' || 'documents'::regclass::oid"

func (g *given) remember(stamps []report.Stamp) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.newest == nil {
		g.newest = map[report.Kind][]report.Stamp{}
	}
	for _, s := range stamps[max(0, len(stamps)-maxGiven):] {
		// The probe is no content: to lose it is no loss.
		if s.Version == 0 || s.Kind == report.Probe {
			continue
		}
		list := append(g.newest[s.Kind], s)
		g.newest[s.Kind] = slices.Clone(list[max(0, len(list)-maxGiven):])
	}
}

func (g *given) all() (list []report.Stamp) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, stamps := range g.newest {
		list = append(list, stamps...)
	}
	return list
}

func (g *given) isCompared(server string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.server == server
}

// sees reports whether the last Claim of a kind was of this server, too.
func (g *given) sees(kind report.Kind, server string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.seen[kind]
	if g.seen == nil {
		g.seen = map[report.Kind]string{}
	}
	g.seen[kind] = server
	return before == "" || before == server
}

func (g *given) compared(server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.server = server
}

// lost returns the versions of stamps that the journal gave out and does not know.
func (j *Journal) lost(ctx context.Context, stamps []report.Stamp) (versions []report.Version, err error) {
	conn, err := j.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	return lostOf(ctx, conn.Conn(), stamps)
}

func lostOf(ctx context.Context, conn *pgx.Conn, stamps []report.Stamp) (versions []report.Version, err error) {
	if len(stamps) == 0 {
		return nil, nil
	}
	keys, list := make([]report.Key, len(stamps)), make([]int64, len(stamps))
	for i, s := range stamps {
		keys[i], list[i] = s.Key, int64(s.Version)
	}
	rows, err := conn.Query(ctx, "SELECT version FROM unnest($1::text[], $2::bytea[], $3::bigint[]) AS given (kind, id, version) WHERE "+commit.IsLost, append(lookupArgs(keys), list)...)
	if err == nil {
		versions, err = pgx.CollectRows(rows, pgx.RowTo[report.Version])
	}
	if err != nil {
		return nil, fmt.Errorf("look up what it gave out: %w", err)
	}
	return versions, nil
}

// compareGiven notes in a transaction what a server lacks that was started anew.
func (j *Journal) compareGiven(ctx context.Context, conn *pgx.Conn, tx *commit.Transaction) error {
	lost, err := lostOf(ctx, conn, j.given.all())
	if err == nil && len(lost) > 0 {
		err = tx.NoteLost(lost)
	}
	return err
}

// errNotCompared makes a Claim wait until the server is compared with what this process remembers.
var errNotCompared = errors.New("the server was started anew, and may be in an older state")

// errStartedAnew is what the first Claim of a kind returns then, so that its caller compares the index, too:
// another process may have given out what this one does not remember.
var errStartedAnew = errors.New("its server was started anew; what it has is compared with what it gave out, and then it goes on")

// compareServer has the writer compare the server, if that was started anew.
func (j *Journal) compareServer(ctx context.Context) error {
	return j.queue.Do(ctx, &commit.Request{Sync: true})
}
