package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestJournalCopyCommand moves a riskdex from a file to PostgreSQL and back. Each time it
// continues with all that it had, and with the same index, which it need not fill again.
func TestJournalCopyCommand(t *testing.T) {
	server := postgrestest.Start(t)
	database := postgrestest.Schema(t, server.URL())
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0") // its document would be copied too
	file := p.journal
	p.start()
	p.fill(20)
	if status := p.send("POST", "/cities", "no JSON"); status != 400 {
		t.Fatalf("status %d", status)
	}
	p.send("DELETE", "/cities/3", "")
	p.drained()
	there := []string{"journal", "copy", file, database}
	p.expect(exitFailed, "", there, "already open in process", "stop that one first")
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	p.expect(exitDone, "", there, "20 documents (", "1 refusal", "0 receipts", "the same as in "+file)
	p.expect(exitFailed, "", there, "has a journal already", "overwrites nothing")

	p.journal = database
	p.start()
	if status := p.send("PUT", "/cities/1", `{"title":"in PostgreSQL"}`); status != 202 {
		t.Fatalf("status %d", status)
	}
	p.drained()
	p.indicesReady()
	p.expect(exitDone, "", words("verify"), "19 documents and 1 deleted in the journal, 19 in the index")
	p.expect(exitDone, "", words("refused list"), "1 refusal kept")
	back := filepath.Join(t.TempDir(), "new", "back.db")
	home := []string{"journal", "copy", database, back, "--json"}
	p.expect(exitFailed, "", home, "in use by riskdex", "stop it first")
	if _, err := os.Stat(filepath.Dir(back)); !os.IsNotExist(err) {
		t.Errorf("the refused copy created a folder: %v", err)
	}
	require.NoError(t, os.Mkdir(filepath.Dir(back), 0o700))
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	got := p.expect(exitDone, "", home)
	var made map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &made))
	if checksum, _ := made["checksum"].(string); len(checksum) != 64 || made["documents"] != 20.0 || made["refusals"] != 1.0 || made["damaged"] != 0.0 || made["to"] != back {
		t.Errorf("as JSON: %v", made)
	}

	p.journal = back
	p.start()
	if status := p.send("PUT", "/cities/2", `{"title":"in a file again"}`); status != 202 {
		t.Fatalf("status %d", status)
	}
	p.drained()
	p.indicesReady()
	p.expect(exitDone, "", words("verify"), "19 documents and 1 deleted in the journal, 19 in the index")
	found := p.indexed(report.Cities)
	if len(found) != 19 || string(found["1"]) != `{"title":"in PostgreSQL"}` || string(found["2"]) != `{"title":"in a file again"}` {
		t.Errorf("%d documents, of which 1 is %s, and 2 is %s", len(found), found["1"], found["2"])
	}
}

// TestJournalCopyRefusesPasswords tries a password on either side.
func TestJournalCopyRefusesPasswords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal.db")
	for _, secret := range []string{"postgres://me:secret@127.0.0.1:1/x", "postgresql://127.0.0.1:1/x?password=" + url.QueryEscape("sec ret"), "postgres://127.0.0.1:1/x?sslpassword=secret"} {
		for _, args := range [][]string{{secret, file}, {file, secret}} {
			var out bytes.Buffer
			status := run(t.Context(), append([]string{"journal", "copy"}, args...), streams{&out, &out})
			if status != exitFailed || !strings.Contains(out.String(), "PGPASSWORD") || strings.Contains(out.String(), "sec") && !strings.Contains(out.String(), "has a password") {
				t.Errorf("%v: status %d, %s", args, status, out.String())
			}
		}
	}
}

// TestJournalCopyOfDamage copies a journal with a record that was altered on disk.
func TestJournalCopyOfDamage(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.fill(3)
	p.drained()
	if status := p.terminate(); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	data, err := os.ReadFile(p.journal)
	require.NoError(t, err)
	if bytes.Count(data, []byte(cityBody(2, "text"))) != 1 {
		t.Fatal("the body is not in the file exactly once")
	}
	require.NoError(t, os.WriteFile(p.journal, bytes.Replace(data, []byte(cityBody(2, "text")), []byte(cityBody(2, "tixt")), 1), 0o600))
	to := filepath.Join(t.TempDir(), "copy.db")
	p.expect(exitNegative, "", []string{"journal", "copy", p.journal, to}, "3 documents", "damaged in the journal: cities 2", "1 record cannot be trusted", "as they are in the journal")
	p.expect(exitNegative, "", []string{"journal", "copy", to, to + ".2", "--json"}, `"damaged_documents":[{"kind":"cities","id":"2"}]`)
}
