// Package postgres is the journal in a PostgreSQL database, for any number of processes.
//
// A process writes a group of requests per transaction, whose rows it locks in the order of
// their keys (writer.go, store.go). Claims are leases of the processes (member.go, claim.go).
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
)

// Journal is the journal in a PostgreSQL database, for any number of processes.
// Open makes one.
type Journal struct {
	commit.Requests
	*tables.Reader
	opt     journal.Options
	queue   *commit.Queue
	clock   clock
	pace    pace
	pool    *pgxpool.Pool
	db      *sql.DB // of the pool
	keys    lockKeys
	lineage string
	ended   chan struct{} // closed when run has returned
	close   func() error  // runs once

	open       context.Context // ends with Close
	end        context.CancelFunc
	background sync.WaitGroup

	member    member
	given     given
	stalls    *stallDetector
	idle      *commit.IdleCache
	committed commit.Broadcast // told with what changes documents, here and in other processes
	notify    *notifier

	reading   sync.Mutex        // held by the one Claim that reads
	uncertain bool              // the answer to a Claim was lost; of the holder of reading
	order     commit.ClaimOrder // of the holder of reading

	full    atomic.Pointer[error] // it has reached Options.MaxBytes
	failure atomic.Pointer[error] // why it cannot be written; nil when it can
}

var _ journal.Journal = (*Journal)(nil)

// IsURL reports whether the name of a journal is the URL of a PostgreSQL
// database, and not a file.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// pace has the durations that the processes of a journal go by.
type pace struct {
	// lease is how long a process that does not renew it keeps its claims and the kinds that
	// it has locked.
	lease     time.Duration
	heartbeat time.Duration // between two renewals of the lease; 0 means none
	// stuck is how long the server waits for the next statement of a transaction, or for its
	// answer to be read, before it ends the connection. Otherwise the locks of a stopped
	// process would hold up all others.
	stuck time.Duration
	// group bounds one group commit, with the wait for a standby, and one Claim. It is longer
	// than stuck, and twice as long is within the 30 seconds that a sender is given: a request
	// may wait for the group before and for its own. mark bounds a group that marks a whole
	// kind.
	group, mark time.Duration
	probe       time.Duration // between two attempts to reach a server that takes no writes
}

func usualPace() pace {
	return pace{
		lease: 15 * time.Second, heartbeat: 2 * time.Second, stuck: 10 * time.Second,
		group: 14 * time.Second, mark: 10 * time.Minute, probe: time.Second,
	}
}

// Open opens the journal in the database that a URL names, and creates its
// tables if there are none. They are in the first schema of the search path. The
// caller closes it. ctx is for opening only.
//
// The URL is what libpq takes: with several hosts and target_session_attrs=read-write
// it follows a failover. Options.MinFree has no meaning for it.
func Open(ctx context.Context, url string, opt journal.Options) (*Journal, error) {
	j, err := open(ctx, url, opt, usualPace())
	if err != nil {
		return nil, fmt.Errorf("open the journal in PostgreSQL: %w", err)
	}
	return j, nil
}

func open(ctx context.Context, url string, opt journal.Options, pace pace) (*Journal, error) {
	cfg, err := poolConfig(url, pace.stuck, nil)
	if err != nil {
		return nil, err
	}
	j := &Journal{
		member: member{connections: cfg.ConnConfig.RuntimeParams["application_name"]},
		clock:  clock{injected: opt.Now}, pace: pace, ended: make(chan struct{}), order: commit.ClaimOrder{},
		stalls: newStallDetector(),
	}
	opt = commit.WithDefaults(opt)
	j.idle = commit.NewIdleCache(opt.Now)
	j.opt, j.queue = opt, commit.NewQueue()
	j.queue.Concurrent = true
	j.Reader = j.reader()
	j.Requests = commit.NewRequests(opt, j.queue, commit.Hooks{CheckQuota: j.quotaError, Over: j.measure, Claim: j.tryClaim, Contents: j.Contents, Lost: j.lost})
	j.close = sync.OnceValue(j.shutDown)
	if j.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, err
	}
	j.db = stdlib.OpenDBFromPool(j.pool)
	if err := j.enter(ctx, opt.Log); err != nil {
		_ = j.db.Close()
		j.pool.Close()
		return nil, err
	}
	j.open, j.end = context.WithCancel(context.WithoutCancel(ctx))
	j.notify = newNotifier(j.pool, j.keys.channel, j.member.me.Load)
	j.background.Go(func() { j.notify.run(j.open) })
	j.background.Go(func() { j.idle.Run(j.open) })
	j.background.Go(func() { j.listen(j.open, cfg.ConnConfig) })
	if pace.heartbeat > 0 {
		j.background.Go(func() { j.heartbeat(j.open) })
	}
	j.background.Go(func() { j.stalls.run(j.open) })
	requests, nothing := j.Requests, func(context.Context) error { return nil } // autovacuum does the rest
	j.background.Go(func() { requests.DropDeletedRegularly(j.open, nothing) })
	j.background.Go(func() { requests.KeepHistoryBounded(j.open, nothing) })
	go j.run()
	j.idle.Changed.Notify()
	return j, nil
}

// poolConfig has the server end connections that hang, so that they hold up nobody. settings are
// more of PostgreSQL's.
func poolConfig(url string, stuck time.Duration, settings map[string]string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err // it does not show the password
	}
	cfg.MaxConns = max(cfg.MaxConns, 8)
	session := map[string]string{
		"idle_in_transaction_session_timeout": fmt.Sprint(stuck.Milliseconds()),
		"tcp_user_timeout":                    fmt.Sprint(stuck.Milliseconds()), // of an answer that nobody reads
		"statement_timeout":                   "0",                              // each has one of its own
		"lock_timeout":                        "0",
		"tcp_keepalives_idle":                 "5",
		"tcp_keepalives_interval":             "2",
		"tcp_keepalives_count":                "3",
	}
	stated := cfg.ConnConfig.RuntimeParams
	parameters := map[string]string{"application_name": cmp.Or(stated["application_name"], "riskdex")}
	for name, value := range stated {
		switch name {
		case "application_name":
		case "options": // which can be stated at the start alone
			parameters[name] = value
		default:
			session[name] = value
		}
	}
	maps.Copy(session, settings)
	// A statement after a lock must see what is there now, and not what was there when the
	// transaction began.
	session["default_transaction_isolation"] = "read committed"
	cfg.ConnConfig.RuntimeParams = parameters
	cfg.ConnConfig.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error { return beginSession(ctx, conn, session) }
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	host, _ := os.Hostname()
	name := fmt.Sprintf("%s %08x %s", parameters["application_name"], rand.Uint32(), host) // #nosec G404 -- a name, and no secret
	parameters["application_name"] = name[:min(len(name), maxName)]
	cfg.ConnConfig.OnNotice = keepWarning
	cfg.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3,
	}}).DialContext
	return cfg, nil
}

// maxName is how long the name of a connection may be, in bytes.
const maxName = 63

// enter brings the tables up to date and makes this process a member.
func (j *Journal) enter(ctx context.Context, log *slog.Logger) error {
	conn, err := j.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	other, err := j.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer other.Release()
	if err := checkSessions(ctx, conn.Conn(), other.Conn()); err != nil {
		return err
	}
	if err := setUp(ctx, conn.Conn(), log); err != nil {
		return err
	}
	if j.keys, err = readLockKeys(ctx, conn.Conn()); err != nil {
		return err
	}
	if j.lineage, err = readLineage(ctx, conn.Conn()); err != nil {
		return err
	}
	if err := checkLocks(ctx, conn.Conn(), other.Conn(), j.keys.class); err != nil {
		return err
	}
	j.member.heard = time.Now()
	return j.register(ctx, conn.Conn())
}

// Lineage implements Journal.
func (j *Journal) Lineage() string { return j.lineage }

// quotaError returns why a request is not accepted, as of the last heartbeat.
func (j *Journal) quotaError(n commit.Quota) error {
	if err := j.full.Load(); err != nil && n == commit.FullQuota {
		return *err
	}
	return nil
}

// Changed implements Journal.
func (j *Journal) Changed() <-chan struct{} { return j.idle.Changed }

// Ready implements Journal.
func (j *Journal) Ready() error {
	if err := j.failure.Load(); err != nil {
		return *err
	}
	return cmp.Or(j.quotaError(commit.FullQuota), j.queue.Stalled())
}

// Close implements Journal. What this process has claimed can be claimed by others at
// once.
func (j *Journal) Close() error { return j.close() }

func (j *Journal) shutDown() error {
	j.queue.Close()
	<-j.ended
	j.fail(journal.ErrClosed)
	j.end()
	j.background.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := j.leave(ctx)
	_ = j.db.Close()
	j.pool.Close()
	if err != nil {
		// The lease ends without it.
		j.opt.Log.Warn("left the journal without giving back what was claimed; others take it over soon", "error", err)
	}
	return nil
}

func (j *Journal) fail(err error) { j.failure.Store(&err) }

// closed is not nil once Close has been called.
func (j *Journal) closed() error {
	if err := j.failure.Load(); err != nil && errors.Is(*err, journal.ErrClosed) {
		return journal.ErrClosed
	}
	return nil
}

// clock is the time that all processes share: that of the server. A test may have
// one of its own.
type clock struct{ injected func() time.Time }

// now is the parameter of serverTime: the time in microseconds, or nil for that of
// the server.
func (c clock) now() *int64 {
	if c.injected == nil {
		return nil
	}
	return new(c.injected().UnixMicro())
}

// serverTime is the time in SQL: that of the given parameter, or the server's.
func serverTime(parameter string) string {
	return "coalesce(" + parameter + "::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"
}

// inTransaction calls f in one transaction, and commits it without waiting for the disk: it
// does no harm if a server that crashes forgets it.
func (j *Journal) inTransaction(ctx context.Context, f func(pgx.Tx) error) error {
	return j.inLasting(ctx, "off", f)
}

// inLasting is inTransaction for what must be durable. how is a value of PostgreSQL's
// synchronous_commit: "local" waits for the disk of this server, "on" for that of a standby,
// too, if there is one.
func (j *Journal) inLasting(ctx context.Context, how string, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = "+how); err != nil {
			return err
		}
		return f(tx)
	})
}
