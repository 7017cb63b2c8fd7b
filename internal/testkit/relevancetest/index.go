package relevancetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// Index is an index of every kind, to be searched.
type Index struct {
	Set     *mappings.Set
	Client  *elastic.Client
	Aliases []string
}

// NewIndex makes empty indices as riskdex does with set. They are deleted after the test.
func NewIndex(t testing.TB, set *mappings.Set) *Index {
	t.Helper()
	client, err := elastic.NewClient(elastic.Connection{URL: elastictest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	indices := &indices.Indices{
		Client: client, Prefix: elastictest.Prefix(t), Set: set, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	x := &Index{Set: set, Client: client}
	for _, kind := range report.Kinds() {
		if _, err := indices.Ensure(t.Context(), kind, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		x.Aliases = append(x.Aliases, indices.Alias(kind))
	}
	return x
}

// With returns an Index of the same documents that is searched with another set.
func (x *Index) With(set *mappings.Set) *Index {
	return &Index{Set: set, Client: x.Client, Aliases: x.Aliases}
}

func (x *Index) alias(kind report.Kind) string {
	for i, k := range report.Kinds() {
		if k == kind {
			return x.Aliases[i]
		}
	}
	return ""
}

// Add indexes the documents that set makes of changes. It fails the test if one is refused.
func (x *Index) Add(t testing.TB, set *mappings.Set, changes []report.Change) {
	t.Helper()
	const most = 2 << 20 // bytes in a bulk
	var bulk bytes.Buffer
	for i, c := range changes {
		id, err := json.Marshal(c.ID)
		if err != nil {
			t.Fatal(err)
		}
		bulk.WriteString(`{"index":{"_index":"` + x.alias(c.Kind) + `","_id":` + string(id) +
			`,"require_alias":true,"version_type":"external","version":` + strconv.FormatInt(int64(c.Version), 10) + "}}\n")
		doc, _, err := set.AppendDocument(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		bulk.Write(append(doc, '\n'))
		if bulk.Len() < most && i < len(changes)-1 {
			continue
		}
		answer := x.must(t, esapi.BulkRequest{Body: &bulk, FilterPath: []string{"errors", "items.*.error"}}, elastic.Readable)
		var outcome struct{ Errors bool }
		if err := json.Unmarshal(answer, &outcome); err != nil || outcome.Errors {
			t.Fatalf("indexing: %v, %.500s", err, answer)
		}
		bulk.Reset()
	}
}

// Show makes searches find what was added.
func (x *Index) Show(t testing.TB) {
	t.Helper()
	x.must(t, esapi.IndicesRefreshRequest{Index: x.Aliases}, elastic.Refreshed)
}

// today is how a search body names the current day. It is replaced by aDay, when the feeds
// are some months old: recency would otherwise let the order drift with the calendar.
const today, aDay = `:"now`, `:"2026-11-21T00:00:00Z||`

// Search returns the first hits of a body as kind/id. The names of its clauses are not sent: they take a third
// of the time, and nothing here reads them.
func (x *Index) Search(ctx context.Context, body []byte) ([]string, error) {
	var members any
	if err := json.Unmarshal(bytes.ReplaceAll(body, []byte(today), []byte(aDay)), &members); err != nil {
		return nil, err
	}
	body, err := json.Marshal(unnamed(members))
	if err != nil {
		return nil, err
	}
	result, err := indices.Search(ctx, x.Client, x.Aliases, body)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, hit := range result.Hits {
		keys = append(keys, string(hit.Kind)+"/"+string(hit.ID))
	}
	return keys, nil
}

func unnamed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "_name")
		for _, inner := range v {
			unnamed(inner)
		}
	case []any:
		for _, inner := range v {
			unnamed(inner)
		}
	}
	return value
}

// FixedDay returns an error if the day of a search body cannot be fixed.
func FixedDay(body []byte) error {
	if !bytes.Contains(body, []byte(today)) {
		return fmt.Errorf("the search body has no %s, so its day cannot be fixed", today)
	}
	return nil
}

func (x *Index) must(t testing.TB, request esapi.Request, rule elastic.Rule) []byte {
	t.Helper()
	body, err := x.Client.Ask(t.Context(), request, rule)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
