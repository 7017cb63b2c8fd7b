package indexer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"riskdex/indexer"
	"riskdex/internal/testkit/indexertest"
	"riskdex/journal"
	"riskdex/mappings"
	"riskdex/report"
)

// refusing is a mapping that refuses much, unlike that of riskdex, which accepts every
// document.
const refusing = `{"settings": {"index": {"number_of_shards": 1, "number_of_replicas": 0,
	"mapping.nested_objects.limit": 10, "mapping.total_fields.limit": 50}},
"mappings": {"dynamic": "strict", "properties": {
	"number": {"type": "integer"}, "fraction": {"type": "float"}, "day": {"type": "date"}, "word": {"type": "keyword"},
	"text": {"type": "text"}, "flag": {"type": "boolean"}, "address": {"type": "ip"}, "point": {"type": "geo_point"},
	"shape": {"type": "object", "properties": {"x": {"type": "long"}}}, "list": {"type": "nested", "properties": {"x": {"type": "long"}}},
	"days": {"type": "date_range"}, "words": {"type": "completion"}, "anything": {"type": "object", "enabled": false}}}}`

// poison is what spoils one document of a bulk.
type poison struct {
	body    string         // sent instead of the document, unchanged
	id      string         // sent instead of its id
	version report.Version // sent instead of its version
}

func poisons() map[string]poison {
	body := func(s string) poison { return poison{body: s} }
	return map[string]poison{
		"field that the mapping has not": body(`{"surprise":1}`),
		"word for a number":              body(`{"number":"many"}`),
		"number out of range":            body(`{"number":3000000000}`),
		"number beyond floats":           body(`{"fraction":1e400}`),
		"bad date":                       body(`{"day":"the 31st of June"}`),
		"latitude of 91":                 body(`{"point":{"lat":91,"lon":0}}`),
		"place that is no point":         body(`{"point":"London"}`),
		"keyword of 33 kB":               body(`{"word":"` + strings.Repeat("x", 33_000) + `"}`),
		"flag that is neither":           body(`{"flag":"perhaps"}`),
		"bad address":                    body(`{"address":"300.1.2.3"}`),
		"object for a text":              body(`{"text":{"en":"calm"}}`),
		"text for an object":             body(`{"shape":"round"}`),
		"too many nested objects":        body(`{"list":[` + strings.TrimSuffix(strings.Repeat(`{"x":1},`, 11), ",") + `]}`),
		"range that ends first":          body(`{"days":{"gte":"2026-02-02","lte":"2026-01-01"}}`),
		"1,100 levels":                   body(`{"anything":` + strings.Repeat(`{"a":`, 1100) + `1` + strings.Repeat(`}`, 1100) + `}`),
		"a name twice":                   body(`{"number":1,"number":2}`),
		"invalid UTF-8":                  body("{\"text\":\"\xff\xfe\"}"),
		"invalid escape":                 body(`{"text":"\x41"}`),
		"number of 1,100 digits":         body(`{"fraction":1` + strings.Repeat("0", 1100) + `}`),
		"array for a document":           body(`[{"number":1}]`),
		"broken off":                     body(`{"text":"calm`),
		"line break":                     body("{\"text\":\n\"calm\"}"),
		"nothing":                        body(" "),
		"id of 513 bytes":                {id: strings.Repeat("i", 513)},
		"negative version":               {version: -1},
	}
}

// poisoner stands between the indexer and the journal and its mapping, and spoils the
// documents whose bodies ask for it.
type poisoner struct {
	journal.Journal
	*mappings.Set
	poisons map[string]poison

	mu       sync.Mutex
	disguise map[report.Version]report.Settlement // from the version as sent to the version in the journal
}

func poisonIn(body []byte) string {
	_, name, _ := bytes.Cut(body, []byte(`"poison":"`))
	name, _, _ = bytes.Cut(name, []byte(`"`))
	return string(name)
}

func (p *poisoner) AppendDocument(dst []byte, c report.Change) ([]byte, []string, error) {
	if name := poisonIn(c.Body); name != "" && p.poisons[name].body != "" {
		return append(dst, p.poisons[name].body...), nil, nil
	}
	return append(dst, `{"text":"calm","number":1}`...), nil, nil
}

func (p *poisoner) Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error) {
	changes, err := p.Journal.Claim(ctx, kind, maxChanges, maxBytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range changes {
		spoil := p.poisons[poisonIn(c.Body)]
		if spoil.id == "" && spoil.version == 0 {
			continue
		}
		if spoil.id != "" {
			changes[i].ID = report.ID(spoil.id)
		}
		if spoil.version != 0 {
			changes[i].Version = spoil.version
		}
		p.disguise[changes[i].Version] = report.Settlement{Key: c.Key, Version: c.Version}
	}
	return changes, err
}

func (p *poisoner) Settle(ctx context.Context, settlements []report.Settlement) error {
	p.mu.Lock()
	for i, s := range settlements {
		if real, ok := p.disguise[s.Version]; ok {
			settlements[i].Key, settlements[i].Version = real.Key, real.Version
		}
	}
	p.mu.Unlock()
	return p.Journal.Settle(ctx, settlements)
}

// TestPoisonIsDeadAlone puts each kind of poison at a random position of a bulk of 1,000:
// only that document is dead, and the other 999 are indexed.
func TestPoisonIsDeadAlone(t *testing.T) {
	t.Parallel()
	p := &poisoner{Set: indexertest.SetWith(t, refusing), poisons: poisons(), disguise: map[report.Version]report.Settlement{}}
	r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Set: p.Set, Documents: p, Journal: func(j journal.Journal) indexer.Journal {
		p.Journal = j
		return p
	}})
	var largest atomic.Int64 // changes in a bulk
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
			largest.Store(max(largest.Load(), int64(bytes.Count(body, []byte(`{"index":{"_id"`)))))
		}
		next.ServeHTTP(w, req)
	})
	r.Run()
	r.Append(indexertest.Index(report.Cities, "first", `{}`))
	r.Drained() // and the lane takes whole bulks
	dead, indexed := 0, 1
	for name := range p.poisons {
		t.Run(name, func(t *testing.T) {
			largest.Store(0)
			var changes []report.Change
			at := rand.IntN(1000)
			for i := range 1000 {
				body := `{}`
				if i == at {
					body = fmt.Sprintf(`{"poison":%q}`, name)
				}
				changes = append(changes, indexertest.Index(report.Cities, fmt.Sprintf("%s %d", name, i), body))
			}
			r.Append(changes...)
			r.Drained()
			dead, indexed = dead+1, indexed+999
			if n := largest.Load(); n != 1000 {
				t.Errorf("the bulk had %d changes, want 1000", n)
			}
			if n := r.Stats().Kinds[report.Cities].DeadLetters; n != dead {
				t.Errorf("%d dead letters, want %d", n, dead)
				dead = n
			}
			if n := r.Count(report.Cities); n != indexed {
				t.Errorf("%d documents, want %d", n, indexed)
				indexed = n
			}
			if status, _ := r.Ask("GET", "/"+r.Indices.Alias(report.Cities)+"/_doc/"+strings.ReplaceAll(string(changes[at].ID), " ", "%20"), ""); status != http.StatusNotFound {
				t.Errorf("the poison at %d is in the index: status %d", at, status)
			}
		})
	}
	if n := r.Metric("riskdex_held"); n != 0 {
		t.Errorf("%v indices held", n)
	}
}
