// Package livetest has the tests of mappings that need a real Elasticsearch. They are apart
// so that the other tests of mappings run without one.
package livetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

func TestMain(m *testing.M) { os.Exit(elastictest.Main(m)) }

func newClient(t *testing.T) *elastic.Client {
	t.Helper()
	client, err := elastic.NewClient(elastic.Connection{URL: elastictest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// newClientOver returns a client whose requests go through a transport that fails some.
func newClientOver(t *testing.T, transport http.RoundTripper) *elastic.Client {
	t.Helper()
	client, err := elastic.NewClientOver(transport, elastictest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func newSet(t *testing.T) *mappings.Set {
	t.Helper()
	s, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newIndices returns the indices under prefix as one process sees them.
func newIndices(t *testing.T, prefix string) *indices.Indices {
	t.Helper()
	return indicesWith(t, prefix, newSet(t))
}

// plainIndices are indices that are made with less work, for tests that search for nothing.
func plainIndices(t *testing.T, prefix string) *indices.Indices {
	t.Helper()
	return indicesWith(t, prefix, indexertest.Plain(t))
}

func indicesWith(t *testing.T, prefix string, set *mappings.Set) *indices.Indices {
	t.Helper()
	return &indices.Indices{Client: newClient(t), Prefix: prefix, Set: set, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

func nothing(context.Context) error { return nil }

// must runs a request that has to succeed and returns its answer.
func must(t *testing.T, client *elastic.Client, request esapi.Request) []byte {
	t.Helper()
	status, body := try(t, client, request)
	if status >= 300 {
		t.Fatalf("Elasticsearch answered %d: %s", status, body)
	}
	return body
}

func try(t *testing.T, client *elastic.Client, request esapi.Request) (int, []byte) {
	t.Helper()
	response, err := request.Do(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

// record is a delivery to be indexed.
type record struct {
	kind report.Kind
	id   string
	code string
	body string
}

// fill ensures the indices, writes the records in one bulk, and makes them visible. It
// reports an error for every document that Elasticsearch refuses.
func fill(t *testing.T, x *indices.Indices, records []record) {
	t.Helper()
	for _, kind := range report.Kinds() {
		if _, err := x.Ensure(t.Context(), kind, nothing); err != nil {
			t.Fatal(err)
		}
	}
	var bulk bytes.Buffer
	for i, r := range records {
		id, err := json.Marshal(r.id)
		if err != nil {
			t.Fatal(err)
		}
		bulk.WriteString(`{"index":{"_index":"` + x.Alias(r.kind) + `","_id":` + string(id) +
			`,"require_alias":true,"version_type":"external","version":` + strconv.Itoa(1_000_000+i) + "}}\n")
		doc, _, err := x.Set.AppendDocument(nil, report.Change{
			Key: report.Key{Kind: r.kind, ID: report.ID(r.id)}, Op: report.Index, Code: r.code,
			Version: report.Version(1_000_000 + i), AcceptedAt: time.Unix(1_795_236_000, 0), Body: []byte(r.body),
		})
		if err != nil {
			t.Fatal(err)
		}
		bulk.Write(doc)
		bulk.WriteByte('\n')
	}
	answer := must(t, x.Client, esapi.BulkRequest{Body: &bulk, Refresh: "true"})
	var items struct {
		Items []struct {
			Index struct {
				Status int
				Error  json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(answer, &items); err != nil {
		t.Fatal(err)
	}
	if len(items.Items) != len(records) {
		t.Fatalf("%d items for %d documents", len(items.Items), len(records))
	}
	for i, item := range items.Items {
		if item.Index.Status != 201 {
			t.Errorf("%.80s: %d %s", records[i].id, item.Index.Status, item.Index.Error)
		}
	}
}
