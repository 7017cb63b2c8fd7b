package samplefeed

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/push"
	"riskdex/internal/samplefeed/samplefeedtest"
	"riskdex/report"
)

// replay applies the requests as an index would and returns the remaining bodies, by kind
// and id.
func replay(t *testing.T, requests []push.Request) map[report.Kind]map[string]string {
	t.Helper()
	index := map[report.Kind]map[string]string{}
	for _, kind := range report.Kinds() {
		index[kind] = map[string]string{}
	}
	codes := map[string]string{} // of cities, to their id
	for _, r := range requests {
		collection, id, addressed := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		kind, err := report.ParseKind(collection)
		if err != nil {
			t.Fatal(err)
		}
		if id, err = url.PathUnescape(id); err != nil {
			t.Fatal(err)
		}
		if known, ok := codes[id]; ok && kind == report.Cities {
			id = known
		}
		switch {
		case r.Method == "POST":
			for _, body := range records(t, r.Body) {
				var head struct {
					ID         any
					Code       string
					Attributes struct{ Code string }
				}
				decoder := json.NewDecoder(strings.NewReader(body))
				decoder.UseNumber()
				if err := decoder.Decode(&head); err != nil {
					t.Fatal(err)
				}
				id := asText(head.ID)
				if index[kind][id] != "" {
					t.Errorf("%s %s is created twice", kind, id)
				}
				index[kind][id] = body
				if code := strings.ToUpper(head.Code + head.Attributes.Code); kind == report.Cities {
					codes[code] = id
				}
			}
		case addressed && index[kind][id] == "":
			t.Errorf("%s %s is for a document that is not there", r.Method, r.Path)
		case r.Method == "PUT":
			index[kind][id] = string(r.Body)
		case r.Method == "DELETE":
			delete(index[kind], id)
		}
	}
	return index
}

// records returns the documents in the payload of a POST, without its envelope.
func records(t *testing.T, body []byte) []string {
	t.Helper()
	var list []json.RawMessage
	if json.Unmarshal(body, &list) != nil {
		var envelope map[string]json.RawMessage
		if err := json.Unmarshal(body, &envelope); err != nil {
			t.Fatal(err)
		}
		list = []json.RawMessage{body}
		for _, name := range []string{"cities", "advisories", "data", "advisory"} {
			inner, ok := envelope[name]
			if !ok || envelope["id"] != nil {
				continue
			}
			if json.Unmarshal(inner, &list) != nil {
				list = []json.RawMessage{inner}
			}
		}
	}
	var out []string
	for _, r := range list {
		out = append(out, string(r))
	}
	return out
}

func asText(id any) string {
	if n, ok := id.(json.Number); ok {
		return n.String()
	}
	s, _ := id.(string)
	return s
}

func TestExpectedIsWhatTheRequestsMake(t *testing.T) {
	requests, expected := mustFeed(t), samplefeedtest.Read(t)
	index := replay(t, requests)
	updated, replaced := 0, 0
	for _, r := range requests {
		if r.Method != "POST" {
			replaced++
		}
	}
	if len(expected.Stale) != replaced {
		t.Errorf("%d marks are stale, though %d editions were replaced or deleted", len(expected.Stale), replaced)
	}
	for _, kind := range report.Kinds() {
		if got, want := len(index[kind]), len(expected.Live[kind]); got != want || want == 0 {
			t.Errorf("%s: the requests leave %d documents, expected are %d", kind, got, want)
		}
		for _, doc := range expected.Live[kind] {
			body := index[kind][doc.ID]
			if strings.Count(body, doc.Mark) != 1 {
				t.Errorf("%s %s does not have its mark %s once", kind, doc.ID, doc.Mark)
			}
			if doc.Updated {
				updated++
			}
		}
		for _, doc := range expected.Gone[kind] {
			if index[kind][doc.ID] != "" {
				t.Errorf("%s %s is still there", kind, doc.ID)
			}
			if !slices.Contains(expected.Stale, doc.Mark) {
				t.Errorf("%s %s is gone, but its mark is not stale", kind, doc.ID)
			}
		}
		for id, body := range index[kind] {
			for _, stale := range expected.Stale {
				if strings.Contains(body, stale) {
					t.Errorf("%s %s has the stale mark %s", kind, id, stale)
				}
			}
		}
	}
	if updated < 35 || len(expected.Gone[report.Advisories]) < 4 || len(expected.Gone[report.Cities]) != 0 {
		t.Errorf("updated %d, gone %v", updated, expected.Gone)
	}
}

// Marks differ enough even for a search that tolerates two wrong letters.
func TestMarksAreFarApart(t *testing.T) {
	expected := samplefeedtest.Read(t)
	marks := slices.Clone(expected.Stale)
	for _, kind := range report.Kinds() {
		for _, doc := range expected.Live[kind] {
			marks = append(marks, doc.Mark)
		}
	}
	for i, a := range marks {
		for _, b := range marks[:i] {
			if distance(a, b) < 3 {
				t.Errorf("%s and %s are too close", a, b)
			}
		}
	}
}

// distance returns how many letters have to be changed, added or removed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(b)]
}
