package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/certificates"
	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// check runs riskdex check with the settings of p and further arguments.
func (p *process) check(more ...string) said {
	p.t.Helper()
	return p.command("", append([]string{"check", "--listen", p.deliveries, "--admin-listen", p.admin, "--journal", p.journal,
		"--elasticsearch-url", p.elasticsearch, "--index-prefix", p.prefix}, more...)...)
}

// says checks the exit status, and that there are lines with these levels and texts.
func (s said) says(t *testing.T, status int, lines ...string) {
	t.Helper()
	if s.status != status {
		t.Errorf("exit status %d, want %d:\n%s%s", s.status, status, s.out, s.errs)
	}
	for _, line := range lines {
		level, text, _ := strings.Cut(line, " ")
		found := false
		for said := range strings.Lines(s.out) {
			found = found || strings.HasPrefix(said, level+" ") && strings.Contains(said, text)
		}
		if !found {
			t.Errorf("no line %q in\n%s%s", line, s.out, s.errs)
		}
	}
}

// files returns what is in a folder.
func files(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %v %x\n", path, info.ModTime(), sha256.Sum256(text))
		return err
	}))
	return all.String()
}

// TestCheckLeavesTheJournalAlone checks a journal before it exists, while it is in use,
// after it was closed, and after a kill.
func TestCheckLeavesTheJournalAlone(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	folder := filepath.Join(t.TempDir(), "not", "there")
	p.journal = filepath.Join(folder, "riskdex.db")
	var nodes struct {
		Nodes map[string]struct{ Version string }
	}
	p.ask("GET", "/_nodes?filter_path=nodes.*.version", "", &nodes)
	version := ""
	for _, n := range nodes.Nodes {
		version = n.Version // the tests' server is a single node
	}
	p.check().says(t, exitNegative, "wrong mkdir -p -m 700 "+folder)
	require.NoError(t, os.MkdirAll(folder, 0o700))
	p.check().says(t, exitDone, "fine does not exist yet; serve creates it", "fine "+p.prefix+"cities does not exist yet", "fine security turned off", "fine Elasticsearch "+version+" on 1 node")
	if made := files(t, folder); len(made) > 0 {
		t.Errorf("the check created %v", made)
	}
	p.start()
	p.indicesReady()
	p.fill(3)
	p.drained()
	p.ask("POST", "/"+p.prefix+"cities/_refresh", ``, nil) // documents are counted as a search finds them
	p.check().says(t, exitDone, "fine in use by a running riskdex", "fine "+p.prefix+"cities is "+p.prefix+"cities-v1, with 3 documents", "fine 127.0.0.1")
	p.fill(5) // and riskdex still works
	p.drained()
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	unchanged := func(level string, more ...string) {
		t.Helper()
		before := files(t, folder)
		p.check(more...).says(t, exitDone, level)
		if after := files(t, folder); after != before {
			t.Errorf("the files of the journal were\n%sand are\n%s", before, after)
		}
	}
	unchanged("fine riskdex.db exists, ")
	p.start()
	p.fill(6)
	p.kill()
	unchanged("doubtful was not closed by the riskdex that used it last")
	p.check("--strict").says(t, exitNegative)

	var got checked
	require.NoError(t, json.Unmarshal([]byte(p.check("--json").out), &got))
	if !got.OK || len(got.Checks) < 10 || got.Checks[0].Level == "" {
		t.Errorf("as JSON: %+v", got)
	}

	other := *p
	other.journal = filepath.Join(t.TempDir(), "other.db")
	other.check().says(t, exitNegative, "wrong "+p.prefix+"cities-v1 is filled from another journal, and "+other.journal+" does not exist")
	q := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	q.start()
	q.terminate()
	other.journal = q.journal
	other.check().says(t, exitNegative, "wrong "+p.prefix+"cities-v1 is filled from another journal")

	p.ask("PUT", "/"+p.prefix+"cities-v1/_settings", `{"index.blocks.write":true}`, nil)
	p.ask("POST", "/"+p.prefix+"advisories-v1/_close", ``, nil)
	p.check().says(t, exitNegative, "wrong cities-v1 is blocked by index.blocks.write", "wrong advisories-v1 is closed")
	p.check("--offline").says(t, exitDone, "fine serve accepts all of them")
	p.check("--mappings", narrowMappings(t)).says(t, exitNegative, "doubtful special-reports-v1 was made from another mapping")
}

// TestCheckOfAJournalInPostgres makes no table there.
func TestCheckOfAJournalInPostgres(t *testing.T) {
	database := postgrestest.Schema(t, postgrestest.Start(t).URL())
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.journal = database
	for range 2 {
		p.check().says(t, exitDone, "fine does not exist yet; serve creates it")
	}
	p.start()
	p.indicesReady()
	p.check().says(t, exitDone, "fine in use by a running riskdex", "fine PostgreSQL ")
	away := p.check("--journal", "postgres://nobody@127.0.0.1:1/x")
	away.says(t, exitNegative, "wrong postgres://nobody@127.0.0.1:1/x: ")
	if n := strings.Count(away.out, "connection refused"); n != 1 || !strings.Contains(away.out, "Start PostgreSQL, or ") {
		t.Errorf("%d lines say that PostgreSQL is away: %s", n, away.out)
	}
	p.check("--journal", "postgres://me:secret@127.0.0.1:1/x").says(t, exitNegative, "wrong PGPASSWORD")
	p.check("--journal-min-free", "1GiB").says(t, exitDone, "doubtful --journal-min-free has no effect")
	p.check("--backup-every", "1d").says(t, exitDone, "doubtful --backup-every has no effect")
}

// TestCheckSaysAllThatIsWrong has several mistakes at once, and doubtful files.
func TestCheckSaysAllThatIsWrong(t *testing.T) {
	authority, folder := certificates.New(t), t.TempDir()
	put := func(name string, content []byte, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, content, mode))
		return path
	}
	pair := func(name string, end time.Time) (certificate, key string) {
		p := authority.IssueUntil(t, name, end)
		return put(name+".pem", p.Certificate, 0o644), put(name+".key", p.Key, 0o600)
	}
	old, oldKey := pair("old", time.Now().Add(-time.Hour))
	soon, soonKey := pair("soon", time.Now().Add(48*time.Hour))
	check := func(args ...string) said {
		var out, errs bytes.Buffer
		status := run(t.Context(), append([]string{"check", "--offline", "--journal", filepath.Join(folder, "j.db")}, args...), streams{&out, &errs})
		return said{status, out.String(), errs.String()}
	}
	check("--tls-cert-file", old, "--tls-key-file", oldKey, "--ids", "cities=id", "--bearer-file", filepath.Join(folder, "none"), "--elasticsearch-url", "localhost", "--admin-listen", "0.0.0.0:1").says(t, exitNegative,
		"wrong has expired", "wrong JSON pointer", "wrong "+filepath.Join(folder, "none"), "wrong does not begin with http://", "wrong --insecure-open")
	check("--tls-cert-file", soon, "--tls-key-file", soonKey, "--bearer-file", put("bearer", []byte("a-token-of-the-publisher\n"), 0o644), "--listen", "192.0.2.1:8080").says(t, exitDone,
		"doubtful expires on", "doubtful every user of this machine may read /", "doubtful 192.0.2.1:8080 is not an address of this machine")
	check("--listen", "nowhere").says(t, exitNegative, "wrong nowhere is not an address")
	check("--client-ca-file", put("ca.pem", authority.PEM, 0o600)).says(t, exitNegative, "wrong client certificates need TLS")
	check("--expect-every", "citys=24h,advisories=7d").says(t, exitDone, "doubtful citys is not a kind")
	check("--workers", "0").says(t, exitNegative, "wrong workers")
	check("--body-memory", "1MiB").says(t, exitNegative, "wrong must fit twice")
	check("--admin-token-file", put("admin", []byte("a-token-of-the-operator\n"), 0o600), "--admin-listen", "0.0.0.0:1").says(t, exitDone, "doubtful plain HTTP", "fine 1 file with secrets")
	if left, err := filepath.Glob(filepath.Join(folder, "j.db*")); len(left) > 0 || err != nil {
		t.Errorf("the check made the tables %v, %v", left, err)
	}
}

// TestReferenceNamesThePrivileges compares docs/reference.md with the privileges that
// riskdex asks for.
func TestReferenceNamesThePrivileges(t *testing.T) {
	_, text, _ := strings.Cut(documents(t)["../../docs/reference.md"], "needs the privileges ")
	text, _, _ = strings.Cut(text, ". ")
	var want []string
	p := (&indices.Indices{}).Privileges(report.AllKinds())
	for _, list := range [][]string{p.Cluster, p.Index[0].Privileges, p.Index[0].Names} {
		want = append(want, list...)
	}
	var got []string
	for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		got = append(got, name[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("docs/reference.md names %q, asked for are %q", got, want)
	}
}

// TestCheckAsksAServer uses a real server with security turned on and low limits, behind a
// proxy whose clock is an hour off.
func TestCheckAsksAServer(t *testing.T) {
	const reader, writer, password = "reader", "writer", "correct horse"
	o := elasticserver.Options{Home: elastictest.Home(t), Settings: map[string]string{"http.max_content_length": "1mb", "cluster.max_shards_per_node": "3"}, Security: &elasticserver.Security{
		Users: map[string]elasticserver.User{reader: {Password: password, Role: reader}, writer: {Password: password, Role: writer}},
		Roles: map[string]string{
			reader: `{"cluster":["monitor"],"indices":[{"names":["*"],"privileges":["read","view_index_metadata"]}]}`,
			writer: `{"cluster":["monitor","manage_index_templates"],"indices":[{"names":["cities*","advisories*","special-reports*","probe*"],"privileges":["read","write","manage"]}]}`,
		},
	}}
	server, err := url.Parse(elastictest.Start(t, o).URL())
	require.NoError(t, err)
	late := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
			return nil
		},
	})
	t.Cleanup(late.Close)
	journal, file := filepath.Join(t.TempDir(), "j.db"), filepath.Join(t.TempDir(), "password")
	check := func(address, user, password string, more ...string) said {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(password), 0o600))
		var out, errs bytes.Buffer
		status := run(t.Context(), append([]string{"check", "--journal", journal, "--elasticsearch-url", address, "--elasticsearch-user", user, "--elasticsearch-password-file", file}, more...), streams{&out, &errs})
		return said{status, out.String(), errs.String()}
	}
	address := server.String()
	check(address, writer, password).says(t, exitDone, "fine writer has all that riskdex needs", "fine agrees with that of Elasticsearch", "doubtful 1.0 MiB at most (http.max_content_length)",
		"doubtful may have 3 (cluster.max_shards_per_node)")
	check(address, writer, password, "--max-body", "1MiB").says(t, exitDone, "fine --max-body is 1.0 MiB")
	check(address, writer, password, "--index-prefix", "other-").says(t, exitNegative, "wrong writer lacks read, write, manage on other-cities*")
	check(address, reader, password).says(t, exitNegative, "wrong reader lacks the cluster privilege manage_index_templates", "wrong reader lacks write, manage on cities*")
	check(address, writer, "wrong").says(t, exitNegative, "wrong rejects these credentials")
	check(late.URL, writer, password).says(t, exitDone, "doubtful ahead of that of Elasticsearch")
	check("http://127.0.0.1:1", writer, password).says(t, exitNegative, "wrong no answer from an Elasticsearch")
}
