package transfer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/report"
)

// execPostgres changes the tables of a journal directly.
func execPostgres(t *testing.T, url, query string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// tablesOf counts the tables in the schema of a URL.
func tablesOf(t *testing.T, url string) (n int) {
	t.Helper()
	ctx := context.Background() // also for the checks at the end of a test
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// filled returns the name of a journal that is not in use, with something of everything.
func filled(t *testing.T, name string) string {
	t.Helper()
	j := openNamedTest(t, name)
	fillAll(t, j)
	closeTest(t, j)
	return name
}

// setUpOnly makes a journal without any delivery.
func setUpOnly(t *testing.T, name string) string {
	t.Helper()
	closeTest(t, openNamedTest(t, name))
	return name
}

// wantNoCopy checks that a copy fails with a message that contains these texts.
func wantNoCopy(t *testing.T, ctx context.Context, from, to, want string) {
	t.Helper()
	r, err := copyJournal(ctx, from, to, nil)
	if err == nil || !strings.Contains(err.Error(), want) || r.Documents != 0 {
		t.Errorf("the copy reported %+v, %v; want an error with %q", r, err, want)
	}
}

// TestCopyRefusesSource: the source is in use, or is not a journal.
func TestCopyRefusesSource(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name, want string
		from       func(t *testing.T) string
		ctx        context.Context
	}{
		{name: "in use, SQLite", want: fmt.Sprintf("already open in process %d", os.Getpid()), from: func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "journal.db")
			j := openNamedTest(t, path)
			t.Cleanup(func() { closeTest(t, j) })
			return path
		}},
		{name: "in use, PostgreSQL", want: fmt.Sprintf(" %d); stop it first", os.Getpid()), from: func(t *testing.T) string {
			url := postgrestest.URL(t)
			j := openNamedTest(t, url)
			t.Cleanup(func() { closeTest(t, j) })
			return url
		}},
		{name: "no file", want: "no such file", from: func(t *testing.T) string {
			dir := t.TempDir()
			t.Cleanup(func() { journaltest.CheckFolder(t, dir, nil) })
			return filepath.Join(dir, "missing.db")
		}},
		{name: "no tables", want: "has no riskdex journal", from: func(t *testing.T) string {
			url := postgrestest.URL(t)
			t.Cleanup(func() {
				if n := tablesOf(t, url); n != 0 {
					t.Errorf("%d tables were made, want none", n)
				}
			})
			return url
		}},
		{name: "no server", want: "connect", from: func(*testing.T) string { return "postgres://riskdex@127.0.0.1:1/postgres" }},
		{name: "a folder", want: "no regular file", from: func(t *testing.T) string { return t.TempDir() }},
		{name: "another database", want: "no riskdex journal", from: func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "foreign.db")
			execFile(t, path, `CREATE TABLE t (x)`)
			return path
		}},
		{name: "another version", want: "have version 2", from: func(t *testing.T) string {
			path := setUpOnly(t, filepath.Join(t.TempDir(), "journal.db"))
			execFile(t, path, `PRAGMA user_version = 2`)
			return path
		}},
		{name: "another version, PostgreSQL", want: "use the riskdex that made them", from: func(t *testing.T) string {
			url := setUpOnly(t, postgrestest.URL(t))
			execPostgres(t, url, `UPDATE riskdex_journal SET version = version + 1`)
			return url
		}},
		{name: "suspect", want: "could not write it", from: func(t *testing.T) string {
			path := setUpOnly(t, filepath.Join(t.TempDir(), "journal.db"))
			journaltest.WriteFile(t, path+".suspect", "")
			return path
		}},
		{name: "replaced by half", want: "could not write it", from: func(t *testing.T) string {
			path := setUpOnly(t, filepath.Join(t.TempDir(), "journal.db"))
			journaltest.WriteFile(t, path+".whole", "")
			return path
		}},
		{name: "cancelled", want: "canceled", ctx: cancelled, from: func(t *testing.T) string {
			return setUpOnly(t, filepath.Join(t.TempDir(), "journal.db"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.ctx == nil {
				c.ctx = t.Context()
			}
			from, dir, url := c.from(t), t.TempDir(), postgrestest.URL(t)
			wantNoCopy(t, c.ctx, from, filepath.Join(dir, "copy.db"), c.want)
			journaltest.CheckFolder(t, dir, nil)
			wantNoCopy(t, c.ctx, from, url, c.want)
			if n := tablesOf(t, url); n != 0 {
				t.Errorf("%d tables were made, want none", n)
			}
		})
	}
}

// TestCopyOverwritesNothing: there is something at the target.
func TestCopyOverwritesNothing(t *testing.T) {
	from := filled(t, filepath.Join(t.TempDir(), "journal.db"))
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".last", ".suspect", ".whole"} {
		dir := t.TempDir()
		journaltest.WriteFile(t, filepath.Join(dir, "copy.db"+suffix), "mine")
		wantNoCopy(t, t.Context(), from, filepath.Join(dir, "copy.db"), "is there already")
		journaltest.CheckFolder(t, dir, []string{"copy.db" + suffix})
	}
	wantNoCopy(t, t.Context(), from, from, "is there already")

	one := func(d report.Delivery) func(*testing.T, string) {
		return func(t *testing.T, url string) {
			j := openNamedTest(t, url)
			filler{t, j}.append(d)
			closeTest(t, j)
		}
	}
	for name, c := range map[string]struct {
		make func(*testing.T, string)
		want string
	}{
		"a document":        {one(journaltest.Put("1", "{}")), "has a journal already"},
		"a refusal":         {one(report.Delivery{Refusals: []report.Refusal{refused("1", "{")}}), "has a journal already"},
		"a receipt":         {one(report.Delivery{Receipt: &report.Receipt{Sender: "s", ID: "1", Digest: []byte{1}}}), "has a journal already"},
		"a table of others": {func(t *testing.T, url string) { execPostgres(t, url, "CREATE TABLE documents ()") }, "not riskdex's"},
		"a riskdex that waits for deliveries": {func(t *testing.T, url string) {
			j := openNamedTest(t, url)
			t.Cleanup(func() { closeTest(t, j) })
		}, "in use by riskdex"},
	} {
		t.Run(name, func(t *testing.T) {
			url := postgrestest.URL(t)
			c.make(t, url)
			wantNoCopy(t, t.Context(), from, url, c.want)
		})
	}

	t.Run("itself", func(t *testing.T) {
		url := setUpOnly(t, postgrestest.URL(t))
		wantNoCopy(t, t.Context(), url, url, "both ends of this copy")
	})
}
