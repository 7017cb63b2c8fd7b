package postgres

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
)

// TestThroughPgBouncer: with its default parameters of the start, and a pool that is large enough for all sessions,
// nothing acknowledged is lost where PgBouncer is killed, ends connections of its own accord, or
// is paused, and where the server's end of a connection is.
func TestThroughPgBouncer(t *testing.T) {
	server := postgrestest.Start(t)
	pooler := postgrestest.Pooler(t, server, "pool_mode = session", "default_pool_size = 40", "server_idle_timeout = 1", "server_lifetime = 1",
		"server_login_retry = 1")
	url := pooler.Through(postgrestest.Schema(t, server.URL()))
	var p []*Journal
	for range 2 {
		p = append(p, process(t, url, hasty(), journal.Options{}))
	}
	for setting, want := range map[string]string{"transaction_isolation": "read committed", "idle_in_transaction_session_timeout": "1s", "tcp_keepalives_idle": "5"} {
		if got := valueOf[string](t, p[0], "SELECT current_setting($1)", setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	l := loadOn(t, p)
	again := func() {
		t.Helper()
		journaltest.Eventually(t, "both recover by themselves", func() bool { return p[0].Ready() == nil && p[1].Ready() == nil })
		l.more(50)
	}
	for range torture.Extent(1, 20) {
		l.more(50)
		pooler.Kill()
		journaltest.Eventually(t, "it is noticed", func() bool { return p[0].Ready() != nil && p[1].Ready() != nil })
		require.NoError(t, pooler.Start(t.Context()))
		again()
		require.NoError(t, pooler.Command(t.Context(), "KILL postgres")) // which pauses it, too
		journaltest.Eventually(t, "it is noticed", func() bool { return p[0].Ready() != nil && p[1].Ready() != nil })
		require.NoError(t, pooler.Command(t.Context(), "RESUME postgres"))
		again()
		require.NoError(t, pooler.Command(t.Context(), "RECONNECT"))
		l.more(50)
		server.Kill()
		journaltest.Eventually(t, "it is noticed", func() bool { return p[0].Ready() != nil && p[1].Ready() != nil })
		require.NoError(t, server.Start(t.Context()))
		again()
	}
	l.end()
}

// TestPgBouncerThatSharesSessions: riskdex says at the start that it cannot work, and why.
func TestPgBouncerThatSharesSessions(t *testing.T) {
	server := postgrestest.Start(t)
	for _, mode := range []string{"transaction", "statement"} {
		pooler := postgrestest.Pooler(t, server, "pool_mode = "+mode)
		url := pooler.Through(server.URL())
		_, err := open(t.Context(), url, journal.Options{Log: slog.New(slog.DiscardHandler)}, hasty())
		if !errors.Is(err, errSharedSession) || !strings.Contains(err.Error(), "pool_mode = session") {
			t.Errorf("pool_mode = %s: %v", mode, err)
		}
		if _, err := Inspect(t.Context(), url, slog.New(slog.DiscardHandler)); !errors.Is(err, errSharedSession) {
			t.Errorf("pool_mode = %s: %v", mode, err)
		}
	}
}

// TestSessionOfAnother: where a session turns out not to be that of its connection, as after a
// pooler was set to share sessions, nothing is accepted.
func TestSessionOfAnother(t *testing.T) {
	_, p := processes(t, 1, silent())
	j := p[0]
	appendTo(t, j, "1", "x")
	for _, conn := range j.pool.AcquireAllIdle(t.Context()) {
		_, err := conn.Exec(t.Context(), "RESET riskdex.session")
		require.NoError(t, err)
		conn.Release()
	}
	if _, err := j.Append(t.Context(), journaltest.Put("2", "y")); !errors.Is(err, errSharedSession) {
		t.Errorf("it is accepted: %v", err)
	}
	journaltest.Eventually(t, "with sessions of its own, it goes on", func() bool { return j.Ready() == nil })
	appendTo(t, j, "2", "y")
}
