package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
)

// asRiskdex in the environment makes the test binary behave as riskdex itself,
// so that tests can start, stop and kill a real process.
const asRiskdex = "RISKDEX_TEST_AS_RISKDEX"

func TestMain(m *testing.M) {
	if os.Getenv(asRiskdex) != "" {
		main()
	}
	os.Exit(postgrestest.Main(func() int { return elastictest.Main(m) }))
}

// A command whose answer is cut short, by a full disk, says so and is not done: what is cut looks
// like a shorter answer.
func TestAnswerThatCannotBeWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{"metrics", "version", "help", "mappings export new"} {
		var errs bytes.Buffer
		status := run(t.Context(), strings.Fields(args), streams{fullDisk{}, &errs})
		if status != exitFailed || strings.Count(errs.String(), syscall.ENOSPC.Error()) != 1 {
			t.Errorf("%s: status %d, want %d; said %q, want %q in it, once", args, status, exitFailed, errs.String(), syscall.ENOSPC)
		}
	}
}

// fullDisk is a file on a disk that is full.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestExitStatus(t *testing.T) {
	url, prefix := elastictest.URL(t), elastictest.Prefix(t)
	t.Chdir(t.TempDir()) // some commands get as far as opening a journal
	require.NoError(t, os.Mkdir("data", 0o700))
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"help":                   {[]string{"--help"}, exitDone, "serve"},
		"nothing":                {nil, exitFailed, "--help"},
		"unknown command":        {[]string{"dance"}, exitFailed, "Try: riskdex --help"},
		"unknown flag":           {[]string{"serve", "--dance"}, exitFailed, "Try: riskdex serve --help"},
		"unknown flag within":    {[]string{"dead", "list", "--dance"}, exitFailed, "Try: riskdex dead list --help"},
		"unknown log level":      {[]string{"serve", "--log-level", "loud"}, exitFailed, "debug"},
		"no size":                {[]string{"serve", "--max-body", "much"}, exitFailed, "64MiB"},
		"unknown kind":           {[]string{"serve", "--ids", "countries=/id"}, exitFailed, "countries"},
		"no pointer":             {[]string{"serve", "--ids", "cities=id"}, exitFailed, "JSON pointer"},
		"no workers":             {[]string{"serve", "--workers", "0", "--journal", t.TempDir() + "/j"}, exitFailed, "workers"},
		"more than all the time": {[]string{"serve", "--refresh-share", "1.5", "--journal", t.TempDir() + "/j"}, exitFailed, "share of the time"},
		"no URL":                 {[]string{"search", "x", "--elasticsearch-url", "localhost"}, exitFailed, "http://"},
		"nobody there":           {[]string{"search", "x", "--elasticsearch-url", "http://127.0.0.1:1"}, exitFailed, "is Elasticsearch at"},
		"no indices":             {[]string{"search", "x", "--elasticsearch-url", url, "--index-prefix", prefix}, exitFailed, "index_not_found_exception"},
		"folder without mapping": {[]string{"search", "x", "--mappings", t.TempDir()}, exitFailed, ".json"},
	} {
		var out bytes.Buffer
		if status := run(t.Context(), c.args, streams{&out, &out}); status != c.status || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: status %d, want %d; said %q, want %q in it", name, status, c.status, out.String(), c.says)
		}
	}
}
