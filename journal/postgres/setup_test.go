package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TestPostgresSetUpAtOnce: processes open an empty schema at the same moment.
func TestPostgresSetUpAtOnce(t *testing.T) {
	for range 5 {
		url := postgrestest.URL(t)
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				j, err := Open(t.Context(), url, journal.Options{Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := j.Append(t.Context(), journaltest.Put(fmt.Sprint(i), "x")); err != nil {
					t.Error(err)
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		j := process(t, url, silent(), journal.Options{})
		if got := claimed(t, j); len(got) != 4 {
			t.Errorf("%d of 4 deliveries are in the journal", len(got))
		}
		sumsHold(t, j)
	}
}

// TestPostgresSetUpWaits starts a process on a journal that is being copied.
func TestPostgresSetUpWaits(t *testing.T) {
	url := postgrestest.URL(t)
	copying := process(t, url, silent(), journal.Options{})
	tx, err := copying.pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, (&copyConn{tx: tx}).lockSetUp(t.Context()))
	logged, opened := commit.NewSignal(), make(chan *Journal)
	log := slog.New(slog.NewTextHandler(notifying{logged}, nil))
	go func() {
		j, err := Open(t.Context(), url, journal.Options{Log: log})
		if err != nil {
			t.Error(err)
		}
		opened <- j
	}()
	select {
	case <-logged:
	case <-time.After(journaltest.Timeout):
		t.Error("the log does not say what riskdex waits for")
	}
	require.NoError(t, tx.Rollback(t.Context()))
	if j := <-opened; j != nil {
		require.NoError(t, j.Close())
	}
}

// notifying sends a signal for every line of a log.
type notifying struct{ commit.Signal }

func (r notifying) Write(line []byte) (int, error) {
	r.Notify()
	return len(line), nil
}

func TestPostgresSetUpRefuses(t *testing.T) {
	for _, c := range []struct{ name, sql, parameter, want string }{
		{"another version", "UPDATE riskdex_journal SET version = version + 1", "", "use the riskdex that made them"},
		{"a table of somebody else", "DROP TABLE riskdex_journal", "", "not riskdex's"},
		{"commits that do not wait", "", "&synchronous_commit=off", "synchronous_commit is off"},
		{"no schema", "", "&search_path=nowhere", "search_path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := postgrestest.URL(t)
			j := process(t, url, silent(), journal.Options{})
			if c.sql != "" {
				execSQL(t, j, c.sql)
			}
			again, err := Open(t.Context(), url+c.parameter, journal.Options{})
			if err == nil {
				t.Fatal("Open succeeded, want an error", again.Close())
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestPostgresTooOld has no such server, so it checks the error for the version number.
func TestPostgresTooOld(t *testing.T) {
	for version, old := range map[int]bool{90624: true, 130011: true, oldestSupported: false, 150006: false, 180000: false} {
		if err := checkAge(version); (err != nil) != old || old && !strings.Contains(err.Error(), "14 or newer") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// TestPostgresOtherDefaults: the database has default settings under which transactions
// would see old data, or end early.
func TestPostgresOtherDefaults(t *testing.T) {
	url := postgrestest.Start(t).URL()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	for _, set := range []string{"default_transaction_isolation = 'repeatable read'", "statement_timeout = 200", "lock_timeout = 1"} {
		_, err := conn.Exec(t.Context(), "ALTER ROLE riskdex SET "+set)
		require.NoError(t, err)
	}
	j := process(t, url, hasty(), journal.Options{})
	for setting, want := range map[string]string{"transaction_isolation": "read committed", "statement_timeout": "0", "lock_timeout": "0"} {
		if got := valueOf[string](t, j, "SELECT current_setting($1)", setting); got != want {
			t.Errorf("%s is %s", setting, got)
		}
	}
}

// TestPostgresDamage changes a stored field of one document behind the journal's back:
// that document is never given out, and the others are. No heartbeat comes between: it would find that
// the document 1, which this process has accepted, is not there under another id, which is a loss.
func TestPostgresDamage(t *testing.T) {
	for _, damage := range []string{
		"body = overlay(body placing '\\x7a' from 3)",
		"body = NULL",
		"version = version + 1",
		"op = 'delete'",
		"code = 'PAR'",
		"accepted_at = accepted_at + 1",
		"crc = crc + 1",
		"kind = 'cities', id = '9'",
	} {
		t.Run(damage, func(t *testing.T) {
			_, p := processes(t, 2, silent())
			j := p[0]
			for i := range 3 {
				deliver(t, j, journaltest.PutCity(fmt.Sprint(i), "LON", strings.Repeat("y", 10_000)))
			}
			damageRow(t, j, damage)
			id := report.ID("1")
			if strings.Contains(damage, "id =") {
				id = "9"
			}
			changes, err := p[1].Claim(t.Context(), report.Cities, 100, 1<<20)
			require.NoError(t, err)
			if len(changes) != 2 || changes[0].ID != "0" || changes[1].ID != "2" {
				t.Errorf("given out: %v, want documents 0 and 2", changes)
			}
			letter, err := j.DeadLetter(t.Context(), report.Key{Kind: report.Cities, ID: id})
			if err != nil || letter.ErrorType != report.ErrorTypeDamaged || letter.Body != nil || !strings.Contains(letter.Reason, string(id)) {
				t.Errorf("the dead letter: %+v, %v", letter, err)
			}
			n, err := j.RetryDead(t.Context(), []report.Stamp{{Key: letter.Key, Version: letter.Version}})
			if n != 0 || err != nil {
				t.Errorf("RetryDead = %d, %v", n, err)
			}
			sumsHold(t, p...)
			good := journaltest.PutCity(string(id), "", "good")
			good.Changes[0].ExactID = false
			deliver(t, j, good)
			changes, err = j.Claim(t.Context(), report.Cities, 100, 1<<20)
			if err != nil || len(changes) != 1 || string(changes[0].Body) != "good" {
				t.Errorf("after a new delivery claimed %v, %v", changes, err)
			}
			sumsHold(t, p...)
		})
	}
}

// damageRow changes the document 1, and what all count for by as much as its body has changed: the
// journal counts what it changes itself.
func damageRow(t *testing.T, j *Journal, damage string) {
	t.Helper()
	execSQL(t, j, "UPDATE documents SET "+damage+" WHERE id = '1'")
	execSQL(t, j, `UPDATE totals SET bytes = bytes + (SELECT sum(coalesce(length(body), 0) + $1) FROM documents) - (SELECT sum(bytes) FROM totals)
		WHERE (slot, kind) IN (SELECT slot, kind FROM totals WHERE bytes > 0 LIMIT 1)`, commit.DocumentBytes)
}

// TestPostgresDamageInResend does the same to documents that are sent again and renewed.
func TestPostgresDamageInResend(t *testing.T) {
	_, p := processes(t, 1, hasty())
	j := p[0]
	for i := range 3 {
		appendTo(t, j, fmt.Sprint(i), "body")
	}
	settle(t, j, report.Indexed, claimed(t, j)...)
	damageRow(t, j, "body = 'other'")
	_, err := report.ResendAll(t.Context(), j, report.Advisories)
	require.NoError(t, err)
	if got := claimed(t, j); len(got) != 2 {
		t.Errorf("given out: %v, want the two intact documents", got)
	}
	sumsHold(t, j)
	_, err = j.DeadLetter(t.Context(), report.Key{Kind: report.Advisories, ID: "1"})
	if errors.Is(err, report.ErrNotFound) {
		t.Error("the damaged document is not a dead letter")
	}
}
