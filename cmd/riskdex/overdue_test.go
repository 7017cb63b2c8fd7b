package main

import (
	"path/filepath"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
)

// TestBackupOverdueIsTold from the start if there is no backup. After a backup its time is
// known, even after kill -9. Copies made without riskdex are not known.
func TestBackupOverdueIsTold(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0", "--backup-every", "1d")
	p.start()
	p.indicesReady()
	trouble := p.says(admin.TroubleBackup)
	if trouble.Severity != admin.Warning || !strings.Contains(trouble.Detail, "(24h): there is none") || !strings.HasPrefix(trouble.Remedy, "riskdex backup FILE") {
		t.Errorf("the trouble is %+v, want a warning that there is no backup", trouble)
	}
	p.expect(exitWarning, "", words("status"), "No backup of the journal was made within --backup-every")
	last := func() float64 { return p.metrics()["riskdex_journal_backup_timestamp_seconds"] }
	p.expect(exitDone, "", []string{"backup", filepath.Join(t.TempDir(), "unknown.db"), "--journal", p.journal})
	p.expect(exitFailed, "", []string{"backup", filepath.Join(t.TempDir(), "not", "there.db")})
	if last() != 0 || p.metrics()["riskdex_journal_backup_every_seconds"] != 86400 {
		t.Error("a copy that riskdex has not made counts as a backup")
	}
	p.says(admin.TroubleBackup)

	p.expect(exitDone, "", []string{"backup", filepath.Join(t.TempDir(), "copy.db")})
	st := p.status()
	if !st.Well || st.Journal.BackupAt == nil || st.Journal.BackupAt.Before(st.StartedAt) || last() == 0 {
		t.Errorf("after a backup: %+v, %+v", st.Troubles, st.Journal)
	}
	p.conserved()
	p.kill()
	p.start()
	if again := p.status(); again.Journal.BackupAt == nil || !again.Journal.BackupAt.Equal(*st.Journal.BackupAt) {
		t.Errorf("after kill -9: %+v", again.Journal)
	}
	p.indicesReady()
	p.expect(exitDone, "", words("status"))
}
