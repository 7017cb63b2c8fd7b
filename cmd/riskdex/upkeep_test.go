package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// fill delivers that many cities and waits until they are in the index.
func (p *process) fill(cities int) {
	p.t.Helper()
	var list []string
	for i := range cities {
		list = append(list, cityBody(i, "text"))
	}
	p.send("POST", "/cities", "["+strings.Join(list, ",")+"]")
	p.drained()
}

// behind returns the index behind the alias of a kind.
func (p *process) behind(kind report.Kind) string {
	p.t.Helper()
	var indices map[string]any
	p.ask("GET", "/_alias/"+p.prefix+string(kind), "", &indices)
	for index := range indices {
		return strings.TrimPrefix(index, p.prefix)
	}
	return ""
}

func TestRebuildCommand(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.fill(200)
	p.expect(exitNegative, "", words("rebuild cities --stop"), "no rebuild")
	p.expect(exitDone, "", words("rebuild cities"), "200 documents", "cities-v2")
	if got := p.behind(report.Cities); got != "cities-v2" {
		t.Errorf("apps search %s", got)
	}
	if n := len(p.indexed(report.Cities)); n != 200 {
		t.Errorf("%d documents", n)
	}
	p.expect(exitDone, "", words("rebuild"), "cities-v3", "advisories-v2", "special-reports-v2")
	p.expect(exitDone, "", words("rebuild advisories --detach"), "started")
	eventually(t, "the rebuild that nobody waits for ends", func() bool { return p.behind(report.Advisories) == "advisories-v3" })
}

// holdCities blocks the first index of cities, and delivers a change that then waits, so that no
// rebuild can end until release is called.
func (p *process) holdCities() (release func()) {
	p.t.Helper()
	block := func(on string) {
		p.ask("PUT", "/"+p.prefix+"cities-v1/_settings", `{"index.blocks.write":`+on+`}`, nil)
	}
	block("true")
	p.send("PUT", "/cities/1", `{"title":"waits"}`)
	eventually(p.t, "the index is held", func() bool { return sum(p.metrics(), "riskdex_held") > 0 })
	return func() { block("null") }
}

// TestRebuildGoesOnWithoutItsWatcher interrupts the command but not the rebuild.
func TestRebuildGoesOnWithoutItsWatcher(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.fill(10)
	release := p.holdCities()
	watcher := p.begin("rebuild", "cities")
	eventually(t, "the rebuild has begun", func() bool {
		return strings.Contains(p.command("", "rebuild", "cities", "--detach").errs, "under way already")
	})
	require.NoError(t, watcher.cmd.Process.Signal(syscall.SIGINT))
	if got := watcher.wait(); got.status != exitNegative || !strings.Contains(got.errs, "goes on") || !strings.Contains(got.errs, "--stop") {
		t.Errorf("the interrupted command printed %+v", got)
	}
	watcher = p.begin("rebuild", "cities")
	release()
	if got := watcher.wait(); got.status != exitDone || !strings.Contains(got.out, "cities-v2") {
		t.Errorf("the second command printed %+v", got)
	}
}

func TestRebuildStopped(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.fill(10)
	release := p.holdCities()
	watcher := p.begin("rebuild", "cities")
	eventually(t, "it can be stopped", func() bool { return p.command("", "rebuild", "cities", "--stop").status == exitDone })
	if got := watcher.wait(); got.status != exitNegative || !strings.Contains(got.errs, "stopped") {
		t.Errorf("the command printed %+v when the rebuild was stopped", got)
	}
	release()
	p.drained()
	if got := p.behind(report.Cities); got != "cities-v1" {
		t.Errorf("apps search %s", got)
	}
}

func TestVerifyCommand(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.fill(50)
	p.send("DELETE", "/cities/49", "")
	p.drained()
	p.indicesReady()
	p.expect(exitDone, "", words("verify"), "cities: 49 documents and 1 deleted in the journal, 49 in the index", "nothing differs", "special-reports")
	if log := p.log.String(); !strings.Contains(log, "msg=verified kind=cities live=49 deleted=1 refused=0 indexed=49 ") {
		t.Errorf("the log says %s", log)
	}
	index := "/" + p.prefix + "cities-v1/_doc/"
	p.ask("DELETE", index+"7", "", nil)
	p.ask("PUT", index+"stranger", `{"title":"planted"}`, nil)

	p.expect(exitNegative, "", words("verify cities"), "missing  cities 7", "foreign  cities stranger", "1 missing, 0 stale, 1 foreign")
	var lines []map[string]any
	for line := range strings.Lines(p.expect(exitNegative, "", words("verify --json cities")).out) {
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		lines = append(lines, v)
	}
	if len(lines) != 3 || lines[2]["documents"] != 50.0 || lines[2]["live"] != 49.0 || lines[2]["deleted"] != 1.0 || lines[2]["missing"] != 1.0 {
		t.Errorf("as JSON: %v", lines)
	}
	p.expect(exitDone, "", words("verify --repair cities"), "2 repaired")
	p.expect(exitDone, "", words("verify cities"), "nothing differs")
	found := p.indexed(report.Cities)
	if len(found) != 49 || found["7"] == nil || found["stranger"] != nil {
		t.Errorf("after the repair the index has %d documents", len(found))
	}

	p.ask("POST", "/"+p.prefix+"advisories-v1/_close", "", nil)
	p.expect(exitFailed, "", words("verify"), "advisories: not compared", "closed", "special-reports: 0 documents")
	p.ask("POST", "/"+p.prefix+"advisories-v1/_open", "", nil)
}

func TestBackupCommand(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0") // its document would be a record too
	p.start()
	p.fill(20)
	file := filepath.Join(t.TempDir(), "copy.db")
	p.expect(exitDone, "", []string{"backup", file}, file+": ", "20 records, checked; a copy of "+p.journal)
	p.expect(exitFailed, "", []string{"backup", file}, "overwrites nothing")
	p.expect(exitFailed, "", []string{"backup", filepath.Join(t.TempDir(), "not", "there.db")}, "riskdex, which makes the copy as its own user", "no such file")
	named := filepath.Join(t.TempDir(), "named.db")
	p.expect(exitDone, "", []string{"backup", named, "--journal", p.journal}, "20 records, checked; a copy of "+p.journal)
	p.send("PUT", "/cities/1", `{"title":"later"}`)
	p.drained()
	p.kill()

	// A riskdex on the copy fills an empty cluster: with its new prefix it sees no indices.
	restored := newProcess(t, p.elasticsearch)
	require.NoError(t, os.Rename(file, restored.journal))
	restored.start()
	eventually(t, "there is an index to compare", func() bool { return restored.command("", "verify").status == exitDone })
	restored.drained()
	found := restored.indexed(report.Cities)
	if len(found) != 20 || string(found["1"]) != cityBody(1, "text") {
		t.Errorf("%d documents, of which 1 is %s", len(found), found["1"])
	}
	restored.expect(exitDone, "", words("verify"), "20 documents in the journal")
}

// TestBackupFromAnywhere runs the command in the wrong folder, with an unused journal at
// the default path and the name of another one in the environment. It copies the journal of
// the running riskdex. If none is running, it copies only a journal that is named.
func TestBackupFromAnywhere(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.fill(3)
	t.Chdir(t.TempDir())
	unused := filepath.Join("data", "riskdex.db")
	require.NoError(t, os.Mkdir("data", 0o700))
	j, err := sqlite.Open(t.Context(), unused, journal.Options{})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	t.Setenv("RISKDEX_JOURNAL", unused)
	p.expect(exitDone, "", words("backup copy.db"), "3 records, checked; a copy of "+p.journal)
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	p.expect(exitFailed, "", words("backup second.db"), "no riskdex answers", "Nothing was copied", "--journal FILE")
	if _, err := os.Stat("second.db"); !os.IsNotExist(err) {
		t.Errorf("the refused backup copied something: %v", err)
	}
	p.expect(exitDone, "", words("backup second.db --journal "+unused), "0 records, checked; a copy of "+filepath.Join(mustDir(t), unused))

	// Nor does restore touch a journal that is not named while a riskdex runs.
	t.Setenv("RISKDEX_JOURNAL", "")
	p.start()
	p.expect(exitFailed, "", words("restore copy.db"), "a riskdex runs at", "on the journal "+p.journal, "stop it first")
}

// TestBackupIsGivenUp if the client leaves or riskdex stops. No partial copy is left.
func TestBackupIsGivenUp(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	for i := range 12 {
		p.send("PUT", fmt.Sprint("/cities/", i), `{"title":"`+strings.Repeat("x", 8<<20)+`"}`)
	}
	dir := t.TempDir()
	for what, stop := range map[string]func(*running){
		"the command": func(r *running) { require.NoError(t, r.cmd.Process.Signal(syscall.SIGINT)) },
		"riskdex": func(*running) {
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			_ = p.cmd.Wait()
			p.cmd = nil
		},
	} {
		if p.cmd == nil {
			p.start()
		}
		file := filepath.Join(dir, "copy.db")
		r := p.begin("backup", file)
		eventually(t, "it has begun", func() bool {
			begun, err := filepath.Glob(file + "*")
			return err == nil && len(begun) > 0
		})
		stop(r)
		got := r.wait()
		if got.status == exitDone { // the backup ended before it was stopped
			require.NoError(t, os.Remove(file))
			continue
		}
		eventually(t, "nothing is left", func() bool {
			left, err := os.ReadDir(dir)
			return err == nil && len(left) == 0
		})
		if got.status != exitFailed || !strings.Contains(got.errs, "the backup was interrupted") && !strings.Contains(got.errs, "canceled") && !strings.Contains(got.errs, "closed") {
			t.Errorf("after %s the backup command printed %+v", what, got)
		}
	}
}

// TestBackupOfPostgres: riskdex makes no backups of PostgreSQL, neither by the command nor
// by a running riskdex.
func TestBackupOfPostgres(t *testing.T) {
	var out, errs bytes.Buffer
	file := filepath.Join(t.TempDir(), "copy.db")
	status := run(t.Context(), []string{"backup", "--journal", "postgres://riskdex@db/riskdex", file}, streams{&out, &errs})
	if status != exitFailed || !strings.Contains(errs.String(), "pg_basebackup") {
		t.Errorf("exit status %d, %s", status, errs.String())
	}
	database := postgrestest.URL(t)
	p := newProcess(t, elastictest.URL(t))
	p.journal = database
	p.start()
	p.expect(exitFailed, "", []string{"backup", file}, "The journal is in PostgreSQL", "pg_basebackup")
}
