package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/exportline"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// documents returns the documents of a kind in the index, by id, without the fields about their
// delivery.
func (p *process) documents(kind report.Kind) map[string]map[string]any {
	p.t.Helper()
	p.ask("POST", "/"+p.prefix+string(kind)+"/_refresh", "", nil)
	var found struct {
		Hits struct {
			Hits []struct {
				ID     string         `json:"_id"`
				Source map[string]any `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	p.ask("POST", "/"+p.prefix+string(kind)+"/_search", `{"size":10000,"query":{"match_all":{}}}`, &found)
	all := map[string]map[string]any{}
	for _, hit := range found.Hits.Hits {
		maps.DeleteFunc(hit.Source, func(name string, _ any) bool { return name == "received_at" || name == "version" })
		all[hit.ID] = hit.Source
	}
	return all
}

// TestExportAndPush exports everything from one riskdex, in every way, and pushes it to another,
// whose index must become the same.
func TestExportAndPush(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.expect(exitDone, "", words("push --to http://"+p.deliveries))
	for _, d := range [][3]string{
		{"PUT", "/cities/130", "{\r\n  \"title\": \"over\\nseveral lines <&>\",\n\t\"risk\": 1.50\n}"},
		{"PUT", "/cities/a%2F%C3%A9%0A", `{"title":"its id needs escapes"}`},
		{"PUT", "/cities/XQZ", `{"title":"known by its code alone"}`},
		{"PUT", "/cities/XQY", `{"id":"7007"}`}, // the record does not state the code
		{"PUT", "/advisories/gone", `{"title":"deleted"}`},
		{"DELETE", "/advisories/gone", ""},
	} {
		if status := p.send(d[0], d[1], d[2]); status != http.StatusAccepted {
			t.Fatalf("%v got status %d, want 202", d, status)
		}
	}
	p.drained()

	file := filepath.Join(t.TempDir(), "all.jsonl")
	p.expect(exitDone, "", []string{"export", "-o", file}, "exported: ", "deleted documents are not exported")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	p.expect(exitFailed, "", []string{"export", "-o", file}, file+" exists")
	if out := p.expect(exitDone, "", words("export")).out; out != string(whole) {
		t.Error("the export to standard output differs from that to a file")
	}
	one := p.expect(exitDone, "", words("export special-reports cities --json"))
	var two struct{ Records map[string]int }
	require.NoError(t, json.Unmarshal([]byte(one.errs), &two))
	if len(two.Records) != 2 || two.Records["cities"]+two.Records["special-reports"] != strings.Count(one.out, "\n") || !strings.HasSuffix(string(whole), one.out[strings.Index(one.out, `{"kind":"special-reports"`):]) {
		t.Errorf("the export of two kinds has the summary %s for %d lines", one.errs, strings.Count(one.out, "\n"))
	}
	p.expect(exitFailed, "", []string{"export", "--journal", p.journal}, "already open in process")
	if n := sum(p.metrics(), "riskdex_exported_records_total"); n != float64(2*strings.Count(string(whole), "\n")+strings.Count(one.out, "\n")) {
		t.Errorf("the metric counts %v records, want those of three exports", n)
	}

	q := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	q.journal = postgrestest.URL(t)
	q.start()
	q.expect(exitDone, "", []string{"push", "--to", "http://" + q.deliveries, file}, " 0 refused, 0 deliveries not accepted")
	q.drained()
	for _, kind := range report.Kinds() {
		if got, want := q.documents(kind), p.documents(kind); len(want) < 3 || !reflect.DeepEqual(got, want) {
			for id := range want {
				if !reflect.DeepEqual(got[id], want[id]) {
					t.Errorf("%s %q is\n%v, want\n%v", kind, id, got[id], want[id])
				}
			}
			t.Errorf("the second index has %d %s, want the %d of the first", len(got), kind, len(want))
		}
	}
	if out := q.expect(exitDone, "", words("export")).out; out != string(whole) {
		t.Error("the second riskdex exports something else than the first")
	}
	for _, one := range []*process{p, q} {
		if status := one.terminate(); status != exitDone {
			t.Fatalf("riskdex ended with status %d, want %d", status, exitDone)
		}
		if out := one.expect(exitDone, "", []string{"export", "--journal", one.journal}).out; out != string(whole) {
			t.Errorf("the export of the unused journal %s differs", one.journal)
		}
	}
	p.expect(exitFailed, "", words("export"), "no riskdex answers", "--journal JOURNAL")
}

// TestKilledExportIsNotTakenForWhole kills riskdex while it exports.
func TestKilledExportIsNotTakenForWhole(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	large := strings.Repeat("x", 1<<20)
	for i := range 40 {
		if status := p.send("PUT", "/cities/"+string(rune('A'+i)), `{"title":"`+large+`"}`); status != http.StatusAccepted {
			t.Fatalf("delivery %d got status %d, want 202", i, status)
		}
	}
	p.drained()
	res, err := http.Get("http://" + p.admin + "/api/export")
	require.NoError(t, err)
	defer res.Body.Close()
	dir := t.TempDir()
	// The test does not read the first export yet, so the second finds it under way.
	p.expect(exitFailed, "", []string{"export", "-o", filepath.Join(dir, "x")}, "one runs at a time")
	p.kill()
	sum := exportSummary{Records: map[report.Kind]int{}}
	var lines strings.Builder
	out := bufio.NewWriter(&lines)
	err = copyLines(out, res.Body, report.Cities, &sum, newProgress(io.Discard))
	require.NoError(t, out.Flush())
	if err == nil || !strings.Contains(err.Error(), "broke off after") {
		t.Errorf(`after the kill the error is %v, want "broke off after"`, err)
	}
	for line := range strings.Lines(lines.String()) {
		if _, err := exportline.Parse([]byte(line)); err != nil && strings.HasSuffix(line, "\n") {
			t.Errorf("a whole line is no record: %.100q: %v", line, err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
		t.Errorf("the failed export left %v (%v), want no files", left, err)
	}
	p.start()
	p.expect(exitDone, "", []string{"export", "-o", filepath.Join(dir, "x")}, "cities: 40 records")
}

// TestExportBehindAProxyIsNotTakenForWhole: a proxy that speaks HTTP/1.0 takes a broken connection
// for the end of an answer, and drops trailers.
func TestExportBehindAProxyIsNotTakenForWhole(t *testing.T) {
	const line = `{"kind":"cities","id":"1","record":{"a":1}}` + "\n"
	for trailer, want := range map[string]string{"": "it may be cut", "2": "1 cities came of 2", "1": ""} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if trailer != "" {
				w.Header().Set("Trailer", admin.TrailerRecords)
			}
			_, _ = io.WriteString(w, line)
			w.Header().Set(admin.TrailerRecords, trailer)
		}))
		t.Cleanup(proxy.Close)
		var out, log bytes.Buffer
		c := exportCommand{adminSettings: adminSettings{Admin: proxy.URL}, Kinds: []string{"cities"}}
		err := c.Run(t.Context(), streams{out: &out, err: &log})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("after one line and the trailer %q the error is %v, want %q", trailer, err, want)
		}
	}
}
