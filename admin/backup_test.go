package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// backupMaker is a fake of the journal.
type backupMaker func(ctx context.Context, file string, tell func(report.BackupProgress)) (report.BackupReport, error)

func (b backupMaker) Backup(ctx context.Context, file string, tell func(report.BackupProgress)) (report.BackupReport, error) {
	return b(ctx, file, tell)
}

func serveBackups(t *testing.T, parts admin.Parts) *httptest.Server {
	t.Helper()
	parts.Log = slog.New(slog.DiscardHandler)
	server := httptest.NewServer(admin.New(parts))
	t.Cleanup(server.Close)
	return server
}

func backUp(t *testing.T, server *httptest.Server, query string) (status int, events []admin.BackupEvent) {
	t.Helper()
	res, err := http.Post(server.URL+"/api/journal/backup?"+query, "", nil)
	require.NoError(t, err)
	defer res.Body.Close()
	for lines := json.NewDecoder(res.Body); res.StatusCode == http.StatusOK; {
		var e admin.BackupEvent
		if err := lines.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return res.StatusCode, events
}

// TestBackupTellsHowFarItIs checks the progress of a backup, and its report at the end.
func TestBackupTellsHowFarItIs(t *testing.T) {
	var failure error
	server := serveBackups(t, admin.Parts{
		JournalInfo: admin.JournalInfo{Name: "/data/riskdex.db", Engine: "sqlite"},
		Backups: backupMaker(func(_ context.Context, file string, tell func(report.BackupProgress)) (report.BackupReport, error) {
			for i := range 1000 {
				tell(report.BackupProgress{Done: int64(i), Total: 1000})
			}
			return report.BackupReport{Records: 7}, failure
		}),
	})
	for _, failure = range []error{nil, errors.New("the disk is full")} {
		status, events := backUp(t, server, "file="+url.QueryEscape("/backups/../backups/a b.db"))
		if status != http.StatusOK || len(events) < 2 || len(events) > 100 || events[0].Progress == nil {
			t.Fatalf("answered %d with %d events", status, len(events))
		}
		r := events[len(events)-1].Report
		if r == nil || r.Journal != "/data/riskdex.db" || r.File != "/backups/a b.db" || r.Records != 7 || failure == nil && r.Error != "" || failure != nil && r.Error != failure.Error() {
			t.Errorf("the report is %+v", r)
		}
	}
	var at admin.JournalInfo
	res, err := http.Get(server.URL + "/api/journal")
	require.NoError(t, err)
	defer res.Body.Close()
	require.NoError(t, json.NewDecoder(res.Body).Decode(&at))
	if at.Name != "/data/riskdex.db" || at.Engine != "sqlite" {
		t.Errorf("the backup of the journal was asked for %+v", at)
	}
}

// TestBackupNamesOneNewFile: a backup begins only if the query names one file by an
// absolute path.
func TestBackupNamesOneNewFile(t *testing.T) {
	parts := admin.Parts{
		JournalInfo: admin.JournalInfo{Name: "/data/riskdex.db", Engine: "sqlite"},
		Backups: backupMaker(func(context.Context, string, func(report.BackupProgress)) (report.BackupReport, error) {
			t.Error("a backup was begun without one file in the query")
			return report.BackupReport{}, nil
		}),
	}
	server := serveBackups(t, parts)
	for _, query := range []string{"", "file=", "file=copy.db", "file=../copy.db", "file=/a&flie=/b", "file=/a&file=/b"} {
		if status, _ := backUp(t, server, query); status != http.StatusBadRequest {
			t.Errorf("the query %q is answered %d, want 400", query, status)
		}
	}
	parts.Backups = nil
	if status, _ := backUp(t, serveBackups(t, parts), "file=/copy.db"); status != http.StatusConflict {
		t.Errorf("a backup of PostgreSQL is answered %d", status)
	}
}

func TestBackupEndsWhenTheClientLeaves(t *testing.T) {
	ended := make(chan error, 1)
	server := serveBackups(t, admin.Parts{
		JournalInfo: admin.JournalInfo{Name: "/data/riskdex.db", Engine: "sqlite"},
		Backups: backupMaker(func(ctx context.Context, _ string, tell func(report.BackupProgress)) (report.BackupReport, error) {
			tell(report.BackupProgress{})
			<-ctx.Done()
			ended <- ctx.Err()
			return report.BackupReport{}, ctx.Err()
		}),
	})
	res, err := http.Post(server.URL+"/api/journal/backup?file=/copy.db", "", nil)
	require.NoError(t, err)
	_, err = res.Body.Read(make([]byte, 1))
	require.NoError(t, err)
	res.Body.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the backup ended with %v", err)
	}
}
