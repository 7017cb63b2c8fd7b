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
	"riskdex/internal/elasticserver/elastictest"
	"riskdex/internal/exportline"
	"riskdex/internal/postgres/postgrestest"
	"riskdex/internal/require"
	"riskdex/report"
)

// documents returns what the index has of each document of a kind, without what is about the
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

// TestExportAndPush takes everything out of one riskdex, by each way, and into another one,
// whose index has to become the same.
func TestExportAndPush(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.expect(exitDone, "", words("push --to http://"+p.deliveries))
	for _, d := range [][3]string{
		{"PUT", "/cities/130", "{\r\n  \"title\": \"over\\nseveral lines <&>\",\n\t\"risk\": 1.50\n}"},
		{"PUT", "/cities/a%2F%C3%A9%0A", `{"title":"its id needs escapes"}`},
		{"PUT", "/cities/XQZ", `{"title":"known by its code alone"}`},
		{"PUT", "/cities/XQY", `{"id":"7007"}`}, // whose record does not state its code
		{"PUT", "/advisories/gone", `{"title":"deleted"}`},
		{"DELETE", "/advisories/gone", ""},
	} {
		if status := p.send(d[0], d[1], d[2]); status != http.StatusAccepted {
			t.Fatalf("%v: %d", d, status)
		}
	}
	p.drained()

	file := filepath.Join(t.TempDir(), "all.jsonl")
	p.expect(exitDone, "", []string{"export", "-o", file}, "exported: ", "deleted documents are not exported")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	p.expect(exitFailed, "", []string{"export", "-o", file}, file+" exists")
	if out := p.expect(exitDone, "", words("export")).out; out != string(whole) {
		t.Error("standard output has something else than the file")
	}
	one := p.expect(exitDone, "", words("export special-reports cities --json"))
	var two struct{ Records map[string]int }
	require.NoError(t, json.Unmarshal([]byte(one.errs), &two))
	if len(two.Records) != 2 || two.Records["cities"]+two.Records["special-reports"] != strings.Count(one.out, "\n") || !strings.HasSuffix(string(whole), one.out[strings.Index(one.out, `{"kind":"special-reports"`):]) {
		t.Errorf("of two kinds: %s", one.errs)
	}
	p.expect(exitFailed, "", []string{"export", "--journal", p.journal}, "already open in process")
	if n := sum(p.metrics(), "riskdex_exported_records_total"); n != float64(2*strings.Count(string(whole), "\n")+strings.Count(one.out, "\n")) {
		t.Errorf("%v records are counted", n)
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
					t.Errorf("%s %q is\n%v, was\n%v", kind, id, got[id], want[id])
				}
			}
			t.Errorf("%s: %d documents, were %d", kind, len(got), len(want))
		}
	}
	if out := q.expect(exitDone, "", words("export")).out; out != string(whole) {
		t.Error("the copy exports something else")
	}
	for _, one := range []*process{p, q} {
		if status := one.terminate(); status != exitDone {
			t.Fatalf("exit status %d", status)
		}
		if out := one.expect(exitDone, "", []string{"export", "--journal", one.journal}).out; out != string(whole) {
			t.Errorf("the journal %s, which nobody uses, exports something else", one.journal)
		}
	}
	p.expect(exitFailed, "", words("export"), "no riskdex answers", "--journal JOURNAL")
}

// TestExportIsNeverTakenForWhole kills riskdex while it exports.
func TestExportIsNeverTakenForWhole(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	large := strings.Repeat("x", 1<<20)
	for i := range 40 {
		if status := p.send("PUT", "/cities/"+string(rune('A'+i)), `{"title":"`+large+`"}`); status != http.StatusAccepted {
			t.Fatalf("status %d", status)
		}
	}
	p.drained()
	res, err := http.Get("http://" + p.admin + "/api/export")
	require.NoError(t, err)
	defer res.Body.Close()
	dir := t.TempDir()
	// The first export is not read, so that the second finds it under way.
	p.expect(exitFailed, "", []string{"export", "-o", filepath.Join(dir, "x")}, "one runs at a time")
	p.kill()
	sum := exportSummary{Records: map[report.Kind]int{}}
	var lines strings.Builder
	out := bufio.NewWriter(&lines)
	err = copyLines(out, res.Body, report.Cities, &sum, newProgress(io.Discard))
	require.NoError(t, out.Flush())
	if err == nil || !strings.Contains(err.Error(), "broke off after") {
		t.Errorf("after it was killed: %v", err)
	}
	for line := range strings.Lines(lines.String()) {
		if _, err := exportline.Parse([]byte(line)); err != nil && strings.HasSuffix(line, "\n") {
			t.Errorf("a line that is none: %.100q", line)
		}
	}
	if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
		t.Errorf("files are left: %v, %v", left, err)
	}
	p.start()
	p.expect(exitDone, "", []string{"export", "-o", filepath.Join(dir, "x")}, "cities: 40 records")
}

// TestExportKnowsItsEnd: a proxy that asks riskdex by HTTP/1.0 takes a connection that breaks for
// the end of an answer, and passes no trailers on.
func TestExportKnowsItsEnd(t *testing.T) {
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
			t.Errorf("after the trailer %q: %v", trailer, err)
		}
	}
}
