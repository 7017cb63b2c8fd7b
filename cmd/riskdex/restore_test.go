package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestRestoreCommand is a bad night: riskdex is killed, and somebody copies a backup over
// the journal but leaves the WAL. riskdex does not start, says why, and the copy is
// restored as it says. What was delivered after the copy was made is missing until the
// publisher delivers it again, and status says so until somebody acknowledges the loss.
func TestRestoreCommand(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.indicesReady()
	p.fill(20)
	backup := filepath.Join(t.TempDir(), "backup.db")
	p.expect(exitDone, "", []string{"backup", backup, "--journal", p.journal}, "20 records, checked")
	restore := []string{"restore", backup, "--journal", p.journal}
	p.expect(exitFailed, "", restore, "already open in process", "stop that one first", "Nothing was changed")
	if status := p.send("PUT", "/cities/new", `{"title":"later"}`); status != 202 {
		t.Fatalf("status %d", status)
	}
	if status := p.send("DELETE", "/cities/3", ""); status != 202 {
		t.Fatalf("status %d", status)
	}
	p.drained()
	p.kill()

	copied, err := os.ReadFile(backup)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.journal, copied, 0o600))
	p.launch()
	_ = p.cmd.Wait()
	if status := p.cmd.ProcessState.ExitCode(); status != exitFailed || !strings.Contains(p.log.String(), "the WAL there is of another file") || !strings.Contains(p.log.String(), "riskdex restore NAME --journal "+p.journal) {
		t.Fatalf("exit status %d", status)
	}
	p.cmd = nil
	require.NoError(t, os.Rename(p.journal, p.journal+".copied"))
	p.expect(exitDone, "", []string{"restore", p.journal + ".copied", "--journal", p.journal}, "20 records, checked", "newest change", "what was there", "acknowledged between", "riskdex journal acknowledge-loss")

	p.start()
	p.expect(exitNegative, "", words("status"), "may be missing", "riskdex journal acknowledge-loss")
	p.drained()
	p.send("PUT", "/cities/new", `{"title":"later"}`)
	p.send("DELETE", "/cities/3", "")
	p.drained()
	p.expect(exitDone, "", words("journal acknowledge-loss --yes"))
	p.indicesReady()
	p.expect(exitDone, "", words("verify"), "nothing differs")
	p.expect(exitDone, "", words("status"), "all is well")
	if found := p.indexed(report.Cities); len(found) != 20 || found["new"] == nil || found["3"] != nil {
		t.Errorf("%d documents", len(found))
	}
}

// TestRestoreSaysWhatIsLost restores a copy, which compares it with the existing journal,
// and then restores that journal again.
func TestRestoreSaysWhatIsLost(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.fill(5)
	backup := filepath.Join(t.TempDir(), "backup.db")
	p.expect(exitDone, "", []string{"backup", backup, "--journal", p.journal})
	for _, id := range []string{"1", "2", "x"} {
		p.send("PUT", "/cities/"+id, `{"title":"later"}`)
	}
	p.drained()
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	p.expect(exitDone, "", []string{"restore", backup, "--journal", p.journal}, "3 changes, not in it")
	aside, err := filepath.Glob(p.journal + ".before-*Z")
	if err != nil || len(aside) != 1 {
		t.Fatalf("the files moved aside are %v, %v; want one", aside, err)
	}
	p.expect(exitDone, "", []string{"restore", aside[0], "--journal", p.journal}, "6 records, checked", "riskdex verify --repair")
	p.start()
	p.drained()
	if found := p.indexed(report.Cities); len(found) != 6 || !strings.Contains(string(found["1"]), "later") {
		t.Errorf("%d documents", len(found))
	}
}

// TestRestoreRefusesCommand checks the messages of refused restores, and that nothing is done.
func TestRestoreRefusesCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("RISKDEX_JOURNAL", "")
	for args, want := range map[string]string{
		"restore copy.db": "there is no journal at " + filepath.Join(mustDir(t), "data", "riskdex.db") + "; say with --journal where it is, or where it should be",
		"restore copy.db --journal postgres://riskdex@db/riskdex": "pg_restore",
		"restore copy.db --journal new/riskdex.db":                "no such file",
	} {
		var out bytes.Buffer
		if status := run(t.Context(), words(args), streams{&out, &out}); status != exitFailed || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit status %d, %s", args, status, out.String())
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

func mustDir(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	return dir
}

// TestRestoreOfDamage: a damaged copy is refused without --damaged.
func TestRestoreOfDamage(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.fill(3)
	p.drained()
	backup := filepath.Join(t.TempDir(), "backup.db")
	p.expect(exitDone, "", []string{"backup", backup, "--journal", p.journal})
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	data, err := os.ReadFile(backup)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(backup, bytes.Replace(data, []byte(cityBody(2, "text")), []byte(cityBody(2, "tixt")), 1), 0o600))
	p.expect(exitFailed, "", []string{"restore", backup, "--journal", p.journal}, "damaged in the copy: cities 2", "the copy is damaged; nothing was changed", "--damaged")
	p.expect(exitNegative, "", []string{"restore", backup, "--journal", p.journal, "--damaged"}, "damaged in the copy: cities 2", "3 records")
}
