package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// serving returns the settings of serve with these arguments.
func serving(t *testing.T, args ...string) *serveCommand {
	t.Helper()
	cli := new(commands)
	parser, err := kong.New(cli, servedHere())
	require.NoError(t, err)
	_, err = parser.Parse(append([]string{"serve"}, args...))
	require.NoError(t, err)
	return &cli.Serve
}

// TestLogLeavesOutWhatSaysNothing logs empty values in both formats.
func TestLogLeavesOutWhatSaysNothing(t *testing.T) {
	for form, want := range map[string]string{
		"text": `level=WARN msg=said kind=cities number=0 lasted=1.5s is=false error="" group.name=x`,
		"json": `"level":"WARN","msg":"said","kind":"cities","number":0,"lasted":1.5,"is":false,"error":"","group":{"name":"x"}}`,
	} {
		var out bytes.Buffer
		logSettings{LogFormat: form}.logger(&out).Warn("said", "kind", report.Cities, "other", report.Kind(""), "id", report.ID(""), "detail", "", "number", 0, "lasted", 1500*time.Millisecond, "is", false,
			"error", errors.New(""), slog.Group("group", "name", "x", "none", ""))
		if _, got, _ := strings.Cut(strings.TrimSpace(out.String()), map[string]string{"text": " ", "json": ","}[form]); got != want {
			t.Errorf("%s: %s, want %s", form, got, want)
		}
	}
}

// TestMinFreeIsOfFiles: with PostgreSQL, a warning says that --journal-min-free has no effect.
func TestMinFreeIsOfFiles(t *testing.T) {
	for _, c := range []struct {
		journal, stated string
		want            int64 // 0 is the default of the journal
		warns           bool
	}{
		{"data/riskdex.db", "", 0, false},
		{"data/riskdex.db", "1GiB", 1 << 30, false},
		{"postgres://riskdex@db/riskdex", "", 0, false},
		{"postgres://riskdex@db/riskdex", "1GiB", 0, true},
		{"postgres://riskdex@db/riskdex", "256MiB", 0, true}, // the same as without the flag
	} {
		args := []string{"--journal", c.journal}
		if c.stated != "" {
			args = append(args, "--journal-min-free", c.stated)
		}
		var log bytes.Buffer
		opt := serving(t, args...).journalOptions(slog.New(slog.NewTextHandler(&log, nil)))
		if opt.MinFree != c.want || strings.Contains(log.String(), "--journal-min-free has no effect") != c.warns {
			t.Errorf("%s: %d, logged %q", args, opt.MinFree, log.String())
		}
	}
	if journal.DefaultMinFree != 256<<20 {
		t.Errorf("the help says 256MiB, but the value is %d", journal.DefaultMinFree)
	}
}
