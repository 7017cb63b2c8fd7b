package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"riskdex/journal"
)

// serving returns what serve is told by arguments.
func serving(t *testing.T, args ...string) *serveCommand {
	t.Helper()
	cli := new(commands)
	parser, err := kong.New(cli)
	must(t, err)
	_, err = parser.Parse(append([]string{"serve"}, args...))
	must(t, err)
	return &cli.Serve
}

// TestMinFreeIsOfFiles: whoever gives it for PostgreSQL is told that it is for nothing.
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
		{"postgres://riskdex@db/riskdex", "256MiB", 0, true}, // as much as where it is not stated
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
		t.Errorf("the help and README.md say 256MiB, it is %d", journal.DefaultMinFree)
	}
}
