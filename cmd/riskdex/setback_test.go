package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// changesAfter is what was delivered after the state to which a journal is set back.
type changesAfter struct{ updated, deleted, added []int }

func (c changesAfter) deliver(p *process) {
	p.t.Helper()
	for _, id := range append(c.updated, c.added...) {
		if status := p.send("PUT", fmt.Sprint("/cities/", id), cityBody(id, "newer")); status != http.StatusAccepted {
			p.t.Fatalf("status %d", status)
		}
	}
	for _, id := range c.deleted {
		if status := p.send("DELETE", fmt.Sprint("/cities/", id), ""); status != http.StatusAccepted {
			p.t.Fatalf("status %d", status)
		}
	}
}

var everything = changesAfter{[]int{1, 2, 3, 4}, []int{5, 6}, []int{20, 21, 22}}

// lossTold waits until riskdex says that changes are lost, which it promises within 15 seconds.
func (p *process) lossTold() {
	p.t.Helper()
	require.Eventually(p.t, 15*time.Second, "riskdex says that changes are lost", func() bool {
		lost, read := p.metrics().Sum("riskdex_journal_lost_seconds")
		return read && lost > 0
	})
	p.expect(exitNegative, "", words("status"), "acknowledged between", "may be missing", "set back", "riskdex journal acknowledge-loss")
}

func (p *process) cursor() string {
	p.t.Helper()
	var page struct{ Next string }
	require.NoError(p.t, json.Unmarshal(p.administer("/api/changes?limit=1000"), &page))
	return page.Next
}

func (p *process) feedIsGone(cursor string) {
	p.t.Helper()
	if text := p.administer("/api/changes?after=" + cursor); !bytes.Contains(text, []byte(`"status":410`)) {
		p.t.Errorf("the feed goes on: %s", text)
	}
}

// decided checks that nothing of the index was replaced or removed, by itself or by a remedy, that
// new deliveries go on, and that all is well once what was lost was delivered again.
func (p *process) decided(after changesAfter, want map[string]json.RawMessage) {
	p.t.Helper()
	same := func() {
		p.t.Helper()
		got := p.indexed(report.Cities)
		for id, text := range want {
			if !bytes.Equal(got[id], text) {
				p.t.Errorf("the index has %q of %s, want %q", got[id], id, text)
			}
		}
		if len(got) != len(want) {
			p.t.Errorf("the index has %d documents, want %d", len(got), len(want))
		}
	}
	p.send("PUT", "/advisories/fresh", `{"title":"delivered since"}`)
	eventually(p.t, "a new delivery is found", func() bool { return p.indexed(report.Advisories)["fresh"] != nil })
	same()
	for _, command := range []string{"rebuild cities", "rebuild --take-over --yes cities"} {
		p.expect(exitNegative, "", words(command), "the journal was set back", "riskdex journal acknowledge-loss")
	}
	for _, command := range []string{"verify --repair cities", "verify --repair --remove-foreign --yes cities"} {
		said := p.command("", words(command)...)
		if said.status == exitDone || !strings.Contains(said.out+said.errs, "acknowledge-loss") && strings.Contains(said.out+said.errs, "differ") {
			p.t.Errorf("%s: %d %q %q", command, said.status, said.out, said.errs)
		}
	}
	same()
	after.deliver(p)
	p.expect(exitDone, "", words("journal acknowledge-loss --yes"))
	p.drained()
	same()
	p.expect(exitDone, "", words("verify cities"), "nothing differs")
}

// TestPostgresIsSetBack puts an older copy of the data folder back, while riskdex runs and while it
// is stopped, or goes on from there to a point in time. The older copy has deletes that were to be sent,
// of documents that came again since.
func TestPostgresIsSetBack(t *testing.T) {
	for name, running := range map[string]bool{"running": true, "started again": false, "to a point in time": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const point = "to a point in time"
			server := postgrestest.Start(t)
			p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
			p.journal = server.URL()
			p.start()
			p.indicesReady()
			p.fill(20)
			block := func(on string) {
				p.ask("PUT", "/"+p.prefix+"cities-v1/_settings", `{"index.blocks.write":`+on+`}`, nil)
			}
			block("true")
			for id := 10; id < 15; id++ {
				p.send("DELETE", fmt.Sprint("/cities/", id), "")
			}
			require.NoError(t, server.Stop())
			require.NoError(t, server.Save(t.Context()))
			require.NoError(t, server.Start(t.Context()))
			block("null")
			after := everything
			after.added = append([]int{10, 11, 12, 13, 14}, after.added...)
			eventually(t, "the journal accepts again", func() bool {
				status, err := p.try("PUT", "/cities/1", cityBody(1, "newer"))
				return err == nil && status == http.StatusAccepted
			})
			p.drained()
			conn, err := pgx.Connect(t.Context(), server.URL())
			require.NoError(t, err)
			_, err = conn.Exec(t.Context(), "SELECT pg_create_restore_point($1)", point)
			require.NoError(t, errors.Join(err, conn.Close(t.Context())))
			after.deliver(p)
			p.drained()
			cursor, want := p.cursor(), p.indexed(report.Cities)
			if len(want) != 21 {
				t.Fatalf("%d documents", len(want))
			}
			if !running {
				if status := p.terminate(); status != exitDone {
					t.Fatalf("exit status %d", status)
				}
			}
			require.NoError(t, server.Stop())
			var settings []string
			if name == point {
				settings, err = server.PutBackTo(t.Context(), point)
			} else {
				err = server.PutBack(t.Context())
			}
			require.NoError(t, err)
			require.NoError(t, server.Start(t.Context(), settings...))
			if !running {
				p.start()
			} else {
				eventually(t, "the journal can be read", func() bool {
					return !bytes.Contains(p.administer("/api/changes?after="+cursor), []byte(`"status":503`))
				})
				p.feedIsGone(cursor)
			}
			p.lossTold()
			p.feedIsGone(cursor)
			p.decided(after, want)
			p.feedIsGone(cursor)
		})
	}
}

// TestPostgresIsRestoredFromADump, into the running server, beside a running riskdex.
func TestPostgresIsRestoredFromADump(t *testing.T) {
	for name, restore := range map[string]func(server *postgres.Server, dump string) error{
		"tables and rows": func(server *postgres.Server, dump string) error {
			return server.Tool(t.Context(), "pg_restore", "--clean", "--single-transaction", "--dbname", server.URL(), dump)
		},
		"rows alone": func(server *postgres.Server, dump string) error {
			conn, err := pgx.Connect(t.Context(), server.URL())
			require.NoError(t, err)
			defer conn.Close(t.Context())
			var tables string
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT string_agg(quote_ident(relname), ', ') FROM pg_stat_user_tables").Scan(&tables))
			_, err = conn.Exec(t.Context(), "TRUNCATE "+tables)
			require.NoError(t, err)
			return server.Tool(t.Context(), "pg_restore", "--data-only", "--single-transaction", "--dbname", server.URL(), dump)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := postgrestest.Start(t)
			p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
			p.journal = server.URL()
			p.start()
			p.indicesReady()
			p.fill(20)
			dump := server.File("dump")
			require.NoError(t, server.Tool(t.Context(), "pg_dump", "--format", "custom", "--file", dump, server.URL()))
			everything.deliver(p)
			p.drained()
			cursor, want := p.cursor(), p.indexed(report.Cities)
			require.NoError(t, restore(server, dump))
			p.lossTold()
			p.feedIsGone(cursor)
			p.decided(everything, want)
		})
	}
}

// TestSetBackThatLostOnly one kind of change, of a journal in a file whose folder is replaced.
func TestSetBackThatLostOnly(t *testing.T) {
	for name, after := range map[string]changesAfter{
		"an update": {updated: []int{7}}, "a document": {added: []int{30}}, "deletes": {deleted: []int{8, 9}}, "all": everything,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProcess(t, elastictest.URL(t))
			p.start()
			p.indicesReady()
			p.fill(20)
			if status := p.terminate(); status != exitDone {
				t.Fatalf("exit status %d", status)
			}
			folder := filepath.Dir(p.journal)
			saved := filepath.Join(t.TempDir(), "saved")
			require.NoError(t, exec.Command("cp", "-a", folder, saved).Run())
			p.start()
			after.deliver(p)
			p.drained()
			cursor, want := p.cursor(), p.indexed(report.Cities)
			if status := p.terminate(); status != exitDone {
				t.Fatalf("exit status %d", status)
			}
			require.NoError(t, os.RemoveAll(folder))
			require.NoError(t, exec.Command("cp", "-a", saved, folder).Run())
			p.start()
			p.send("PUT", "/advisories/passes", `{"title":"the newest version is above the cursor again"}`)
			require.Eventually(t, 15*time.Second, "the feed says that it cannot go on", func() bool {
				text := p.administer("/api/changes?after=" + cursor)
				if bytes.Contains(text, []byte(`"items"`)) && name != "deletes" { // which no index remembers: the next probe shows it
					t.Fatalf("the feed goes on: %s", text)
				}
				return bytes.Contains(text, []byte(`"status":410`))
			})
			p.lossTold()
			p.decided(after, want)
			if status := p.terminate(); status != exitDone {
				t.Fatalf("exit status %d", status)
			}
			p.start() // the index has it still, and it is no news
			p.drained()
			p.indicesReady()
			p.expect(exitDone, "", words("status"), "all is well")
		})
	}
}

// TestSetBackIsNotFollowed: a riskdex that follows has the only other copy of what is lost, and keeps it
// until that was delivered again.
func TestSetBackIsNotFollowed(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.fill(20)
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	folder := filepath.Dir(p.journal)
	saved := filepath.Join(t.TempDir(), "saved")
	require.NoError(t, exec.Command("cp", "-a", folder, saved).Run())
	p.start()
	f := p.follower(p.elasticsearch)
	f.start()
	f.indicesReady()
	everything.deliver(p)
	p.drained()
	p.same(f)
	want := f.records(report.Cities)
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, exec.Command("cp", "-a", saved, folder).Run())
	p.start()
	p.lossTold()
	waits := func() {
		t.Helper()
		f.notFollowed("was set back")
		if got := f.records(report.Cities); !maps.Equal(got, want) {
			t.Errorf("its follower has %v, want %v", got, want)
		}
	}
	waits()
	f.kill()
	f.start()
	waits()
	everything.deliver(p)
	f.notFollowed("acknowledge-loss")
	p.expect(exitDone, "", words("journal acknowledge-loss --yes"))
	p.drained()
	eventually(t, "it follows again", func() bool { a := f.status().Follows.Anew; return a.Done && f.status().Follows.Error == "" })
	p.same(f)
}

// TestStandbyThatLags is promoted while two processes run.
func TestStandbyThatLags(t *testing.T) {
	t.Parallel()
	primary := postgrestest.Start(t)
	standby, err := primary.Standby(t.Context())
	require.NoError(t, err)
	postgrestest.Own(t, standby)
	s := severalOn(t, 2, fmt.Sprintf("postgres://riskdex@127.0.0.1:%d,127.0.0.1:%d/postgres?target_session_attrs=read-write", primary.Port(), standby.Port()))
	s.start()
	p := s.all[0]
	p.fill(20)
	require.NoError(t, standby.Start(t.Context()))
	caughtUp(t, primary, standby)
	require.NoError(t, standby.Stop())
	everything.deliver(p)
	p.drained()
	cursor, want := p.cursor(), p.indexed(report.Cities)
	require.NoError(t, primary.Stop())
	require.NoError(t, standby.Start(t.Context()))
	require.NoError(t, standby.Promote(t.Context()))
	for _, p := range s.all {
		eventually(t, "the journal accepts again", func() bool {
			res, err := http.Get("http://" + p.admin + "/readyz")
			if err != nil {
				return false
			}
			res.Body.Close()
			return res.StatusCode == http.StatusOK
		})
		p.lossTold()
		p.feedIsGone(cursor)
	}
	p.decided(everything, want)
}

// caughtUp waits until the standby has what the primary has written.
func caughtUp(t *testing.T, primary, standby *postgres.Server) {
	t.Helper()
	newest := func(s *postgres.Server) (v int64, err error) {
		conn, err := pgx.Connect(t.Context(), s.URL())
		if err != nil {
			return 0, err
		}
		defer conn.Close(t.Context())
		err = conn.QueryRow(t.Context(), "SELECT coalesce(max(version), 0) FROM documents WHERE kind = 'cities'").Scan(&v)
		return v, err
	}
	want, err := newest(primary)
	require.NoError(t, err)
	eventually(t, "the standby has caught up", func() bool {
		v, err := newest(standby) // it may not have the table yet
		return err == nil && v == want
	})
}

// TestJournalBesideItsCopy: two processes fill the same indices, each from a copy of the same journal,
// and neither lacks anything when it starts.
func TestJournalBesideItsCopy(t *testing.T) {
	t.Parallel()
	p, q := newProcess(t, elastictest.URL(t), "--probe-every", "0"), newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.indicesReady()
	p.fill(20)
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	require.NoError(t, exec.Command("cp", "-aT", filepath.Dir(p.journal), filepath.Dir(q.journal)).Run())
	q.journal, q.prefix = filepath.Join(filepath.Dir(q.journal), filepath.Base(p.journal)), p.prefix
	all := []*process{p, q}
	for _, one := range all {
		one.start()
		one.indicesReady()
	}
	for i, one := range all {
		one.send("PUT", fmt.Sprint("/cities/", 100+i), cityBody(100+i, "of one of them"))
		one.drained()
	}
	for _, one := range all {
		one.copyTold()
	}
	for _, command := range []string{"rebuild cities", "verify --repair --remove-foreign --yes cities"} {
		for _, one := range all {
			if said := one.command("", words(command)...); said.status == exitDone {
				t.Errorf("%s: %q", command, said.out)
			}
		}
	}
	if got := p.indexed(report.Cities); len(got) != 22 {
		t.Errorf("the index has %d documents, want 22", len(got))
	}
}

// copyTold waits until riskdex says that its journal lacks what the index has.
func (p *process) copyTold() {
	p.t.Helper()
	eventually(p.t, "riskdex says that changes are lost", func() bool {
		lost, read := p.metrics().Sum("riskdex_journal_lost_seconds")
		return read && lost > 0
	})
	p.expect(exitNegative, "", words("status"), "may be missing", "a copy of it runs beside it")
}
