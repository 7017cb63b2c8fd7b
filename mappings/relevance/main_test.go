// Package relevance measures how well the search finds what a traveller means.
// It puts the sample feed, in its final state, into a real Elasticsearch, asks
// it the questions in queries.tsv, and compares the answers with what the feed
// says of itself. queries.tsv explains how a judgement is written.
package relevance

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strconv"
	"testing"

	"riskdex/elastic"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/internal/elastic/elastictest"
	"riskdex/mappings"
	"riskdex/report"
)

func TestMain(m *testing.M) { os.Exit(elastictest.Main(m)) }

// engine is an index that can be searched.
type engine struct {
	set     *mappings.Set
	client  *elastic.Client
	aliases []string
}

// newEngine makes empty indices as riskdex does. They are gone after the test.
func newEngine(t testing.TB) *engine {
	t.Helper()
	set, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	client, err := elastic.NewClient(elastic.Connection{URL: elastictest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	indices := &mappings.Indices{
		Client: client, Prefix: elastictest.Prefix(t), Set: set, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	e := &engine{set: set, client: client}
	for _, kind := range report.Kinds() {
		if _, err := indices.Ensure(t.Context(), kind, nothingToResend); err != nil {
			t.Fatal(err)
		}
		e.aliases = append(e.aliases, indices.Alias(kind))
	}
	return e
}

func (e *engine) alias(kind report.Kind) string {
	for i, k := range report.Kinds() {
		if k == kind {
			return e.aliases[i]
		}
	}
	return ""
}

// add indexes changes in one bulk, which it fails to do if any is refused.
func (e *engine) add(t testing.TB, changes []report.Change) {
	t.Helper()
	var bulk bytes.Buffer
	for _, c := range changes {
		id, err := json.Marshal(c.ID)
		if err != nil {
			t.Fatal(err)
		}
		bulk.WriteString(`{"index":{"_index":"` + e.alias(c.Kind) + `","_id":` + string(id) +
			`,"require_alias":true,"version_type":"external","version":` + strconv.FormatInt(int64(c.Version), 10) + "}}\n")
		doc, _, err := e.set.AppendDocument(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		bulk.Write(append(doc, '\n'))
	}
	answer := e.must(t, esapi.BulkRequest{Body: &bulk, FilterPath: []string{"errors", "items.*.error"}})
	var outcome struct{ Errors bool }
	if err := json.Unmarshal(answer, &outcome); err != nil || outcome.Errors {
		t.Fatalf("indexing: %v, %.500s", err, answer)
	}
}

// show makes what was added visible.
func (e *engine) show(t testing.TB) {
	t.Helper()
	e.must(t, esapi.IndicesRefreshRequest{Index: e.aliases})
}

func (e *engine) must(t testing.TB, request esapi.Request) []byte {
	t.Helper()
	response, err := request.Do(t.Context(), e.client)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.IsError() {
		t.Fatalf("Elasticsearch answered %d: %v, %.500s", response.StatusCode, err, body)
	}
	return body
}
