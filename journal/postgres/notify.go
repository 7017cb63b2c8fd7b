package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// notifier tells other processes what may be claimed. It does so outside the transactions:
// PostgreSQL serializes the commits of those that notify.
type notifier struct {
	pool    *pgxpool.Pool
	channel string
	me      func() int64
	wake    commit.Signal

	mu    sync.Mutex
	kinds map[report.Kind]bool
}

// spacing is the shortest time between two notifications of one process, so that a burst of
// deliveries does not become a burst of notifications: every other process wakes for each. The
// first after quiet is sent at once, and the process that accepts a delivery needs none.
const spacing = 50 * time.Millisecond

func newNotifier(pool *pgxpool.Pool, channel string, me func() int64) *notifier {
	return &notifier{pool: pool, channel: channel, me: me, wake: commit.NewSignal(), kinds: map[report.Kind]bool{}}
}

// tell never blocks.
func (n *notifier) tell(kinds ...report.Kind) {
	n.mu.Lock()
	for _, k := range kinds {
		n.kinds[k] = true
	}
	n.mu.Unlock()
	n.wake.Notify()
}

func (n *notifier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		n.mu.Lock()
		text := notice(n.me(), slices.Collect(maps.Keys(n.kinds)))
		clear(n.kinds)
		n.mu.Unlock()
		// One that is lost is made up for: others look by themselves now and then.
		attempt, cancel := context.WithTimeout(ctx, time.Second)
		_, _ = n.pool.Exec(attempt, "SELECT pg_notify($1, $2)", n.channel, text)
		cancel()
		_ = commit.Sleep(ctx, spacing)
	}
}

// notice is the payload of a notification: its process, and the kinds.
func notice(me int64, kinds []report.Kind) string {
	words := []string{strconv.FormatInt(me, 10)}
	for _, k := range kinds {
		words = append(words, string(k))
	}
	return strings.Join(words, " ")
}

// listen receives the notifications of other processes. While it cannot, each heartbeat has
// Claim look.
func (j *Journal) listen(ctx context.Context, cfg *pgx.ConnConfig) {
	for again := false; ctx.Err() == nil; again = true {
		err := j.hear(ctx, cfg, again)
		if ctx.Err() == nil {
			j.opt.Log.Debug("cannot listen for what other processes commit; it is found within seconds all the same, and tried again", "error", err)
			_ = commit.Sleep(ctx, time.Second)
		}
	}
}

func (j *Journal) hear(ctx context.Context, cfg *pgx.ConnConfig, again bool) error {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, fmt.Sprintf("LISTEN %s", pgx.Identifier{j.keys.channel}.Sanitize())); err != nil {
		return err
	}
	if again {
		if err := j.giveBackClaims(ctx); err != nil {
			return err
		}
	}
	j.idle.InvalidateAll() // what came before was not heard
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		words := strings.Fields(n.Payload)
		if len(words) == 0 || words[0] == strconv.FormatInt(j.member.me.Load(), 10) {
			continue
		}
		for _, k := range words[1:] {
			j.idle.Invalidate(report.Kind(k))
		}
		j.committed.Notify()
		j.idle.Changed.Notify()
	}
}
