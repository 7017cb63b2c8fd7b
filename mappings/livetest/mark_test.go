package livetest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// metaOf returns the `_meta` in the mapping of an index.
func metaOf(t *testing.T, x *indices.Indices, index string) string {
	t.Helper()
	var got map[string]struct {
		Mappings struct {
			Meta json.RawMessage `json:"_meta"`
		}
	}
	if err := json.Unmarshal(must(t, x.Client, esapi.IndicesGetMappingRequest{Index: []string{index}}), &got); err != nil {
		t.Fatal(err)
	}
	return string(got[index].Mappings.Meta)
}

func putMeta(t *testing.T, x *indices.Indices, index, meta string) {
	t.Helper()
	must(t, x.Client, esapi.IndicesPutMappingRequest{Index: []string{index}, Body: strings.NewReader(`{"_meta":` + meta + `}`)})
}

// uuidOf returns the UUID that Elasticsearch gave an index.
func uuidOf(t *testing.T, x *indices.Indices, index string) string {
	t.Helper()
	return strings.TrimSpace(string(must(t, x.Client, esapi.CatIndicesRequest{Index: []string{index}, H: []string{"uuid"}})))
}

func wantMark(t *testing.T, x *indices.Indices, index string, want bool) {
	t.Helper()
	if meta := metaOf(t, x, index); strings.Contains(meta, `"uuid":"`+uuidOf(t, x, index)+`"`) != want {
		t.Errorf("%s is marked: %v, want %v; %s is noted", index, !want, want, meta)
	}
}

func TestIndicesAreMarked(t *testing.T) {
	x, old, next := twoIndices(t)
	wantMark(t, x, old, true)
	wantMark(t, x, next, true)
}

// unmarked returns an index as an older riskdex made it, with a note of somebody else in
// it, and the indices as a process sees them that has just started.
func unmarked(t *testing.T) (x *indices.Indices, index string) {
	t.Helper()
	x = plainIndices(t, elastictest.Prefix(t))
	index, err := x.Ensure(t.Context(), report.Cities, nothing)
	if err != nil {
		t.Fatal(err)
	}
	var meta struct {
		Riskdex struct{ Hash string }
	}
	if err := json.Unmarshal([]byte(metaOf(t, x, index)), &meta); err != nil {
		t.Fatal(err)
	}
	putMeta(t, x, index, `{"somebody":{"n":12345678901234567890},"riskdex":{"hash":"`+meta.Riskdex.Hash+`","later":[1]}}`)
	wantMark(t, x, index, false)
	return plainIndices(t, x.Prefix), index
}

// TestIndexWithoutAMarkIsTrusted: it is used as it is, and marked.
func TestIndexWithoutAMarkIsTrusted(t *testing.T) {
	x, index := unmarked(t)
	var again counter
	for range 2 {
		if got, err := x.Ensure(t.Context(), report.Cities, again.resend); got != index || err != nil || again != 0 {
			t.Errorf("got %s, %v; everything is sent again %d times", got, err, again)
		}
		wantMark(t, x, index, true)
	}
	meta := metaOf(t, x, index)
	for _, want := range []string{`"somebody":{"n":12345678901234567890}`, `"later":[1]`} {
		if !strings.Contains(meta, want) {
			t.Errorf("%s is left of what is noted, without %s", meta, want)
		}
	}
	if changed, err := x.MappingChanged(t.Context(), report.Cities); changed || err != nil {
		t.Errorf("the mapping changed: %v, %v", changed, err)
	}
}

// TestIndexThatCannotBeMarkedIsUsed: an index without a mark is as good as it was before
// there were marks. It is marked as soon as that is possible.
func TestIndexThatCannotBeMarkedIsUsed(t *testing.T) {
	x, index := unmarked(t)
	readOnly := func(yes string) {
		must(t, x.Client, esapi.IndicesPutSettingsRequest{Index: []string{index}, Body: strings.NewReader(`{"index.blocks.read_only":` + yes + `}`)})
	}
	readOnly("true")
	var again counter
	for range 2 {
		if got, err := x.Ensure(t.Context(), report.Cities, again.resend); got != index || err != nil || again != 0 {
			t.Errorf("got %s, %v; everything is sent again %d times", got, err, again)
		}
	}
	wantMark(t, x, index, false)
	readOnly("null")
	if got, err := x.Ensure(t.Context(), report.Cities, again.resend); got != index || err != nil || again != 0 {
		t.Errorf("when it may be written to: got %s, %v; everything is sent again %d times", got, err, again)
	}
	wantMark(t, x, index, true)
}

// unmarkable answers requests that put a mapping with a status, without asking
// Elasticsearch.
type unmarkable int

func (u unmarkable) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPut && strings.HasSuffix(req.URL.Path, "/_mapping") {
		return &http.Response{StatusCode: int(u), Body: io.NopCloser(strings.NewReader(`{}`))}, nil
	}
	return http.DefaultTransport.RoundTrip(req)
}

// TestMarkIsTriedAgain: an index with the mark of another one, or one to be filled, is not
// used before it is marked.
func TestMarkIsTriedAgain(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusServiceUnavailable} {
		x, index := unmarked(t)
		putMeta(t, x, index, `{"riskdex":{"uuid":"of another"}}`)
		whole := x.Client
		x.Client = newClientOver(t, unmarkable(status))
		var again counter
		for range 2 {
			_, err := x.Ensure(t.Context(), report.Cities, again.resend)
			if answer, ok := errors.AsType[*elastic.ResponseError](err); !ok || answer.Status != status {
				t.Errorf("%d: %v", status, err)
			}
		}
		if err := x.Create(t.Context(), report.Cities, x.Index(report.Cities, 2)); err == nil {
			t.Errorf("%d: an index to be filled was created without a mark", status)
		}
		x.Client = whole
		again = 0
		for range 2 {
			if got, err := x.Ensure(t.Context(), report.Cities, again.resend); got != index || err != nil || again != 1 {
				t.Errorf("%d: got %s, %v; everything is sent again %d times, want once", status, got, err, again)
			}
		}
		wantMark(t, x, index, true)
	}
	x, index := unmarked(t)
	x.Client = newClientOver(t, unmarkable(http.StatusServiceUnavailable))
	if got, err := x.Ensure(t.Context(), report.Cities, nothing); err == nil {
		t.Errorf("without a mark, and no refusal of one: got %s", got)
	}
	x.Client = newClientOver(t, unmarkable(http.StatusForbidden))
	if got, err := x.Ensure(t.Context(), report.Cities, nothing); got != index || err != nil {
		t.Errorf("without a mark, for want of privileges: got %s, %v", got, err)
	}
}
