package relevance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/relevancetest"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// many is how many documents the benchmark searches.
const many = 10_000

// BenchmarkSearch reports how long a search takes from the call to the decoded hits,
// highlights included, and for comparison completion and a simple body with highlights. It
// asks the queries of queries.tsv one after the other, on 10,000 documents of the size of
// the sample feed's. The ratios to the simple body hold on a busy machine too.
func BenchmarkSearch(b *testing.B) {
	x := newIndex(b)
	changes := finalState(b)
	queries := judge(b, facts(b, changes))
	var batch []report.Change
	for n := range many {
		batch = append(batch, variant(changes[n%len(changes)], n))
		if len(batch) == 200 || n == many-1 {
			x.Add(b, x.Set, batch)
			batch = batch[:0]
		}
	}
	x.Show(b)
	bodies := []namedBody{{"search", x.Set.SearchBody}, {"complete", x.Set.CompleteBody}, {"simple", simpleBody}}
	shuffled := rand.New(rand.NewPCG(1, 1)) // so that a short run asks queries of every class
	shuffled.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	bench(b, x, bodies, queries)
}

// namedBody makes the body of a search.
type namedBody struct {
	name string
	make func(words string, options search.Query) ([]byte, error)
}

// simpleBody is what one would write in an afternoon: every word in any field, and
// highlights.
func simpleBody(words string, _ search.Query) ([]byte, error) {
	fields := []string{"title^5", "names^5", "country_name^3", "places.name^2", "summary^2", "text"}
	return json.Marshal(map[string]any{
		"_source": map[string]any{"excludes": []string{"source", "text"}},
		"query": map[string]any{"bool": map[string]any{"should": []any{
			map[string]any{"multi_match": map[string]any{"query": words, "type": "cross_fields", "operator": "and", "fields": fields}},
			map[string]any{"multi_match": map[string]any{"query": words, "fuzziness": "AUTO", "fields": []string{"title", "names"}}},
			map[string]any{"multi_match": map[string]any{"query": words, "type": "phrase", "fields": fields, "boost": 2}},
			map[string]any{"terms": map[string]any{"code": []string{words}, "boost": 100}},
		}}},
		"highlight": map[string]any{"max_analyzed_offset": 1_000_000, "fields": map[string]any{"title": struct{}{}, "summary": struct{}{}, "text": struct{}{}}},
	})
}

// bench asks each query with every body in turn, so that other load on the machine is the
// same for all. The last body is the simple one, beside which the others are stated.
func bench(b *testing.B, x *relevancetest.Index, bodies []namedBody, queries []relevancetest.Query) {
	times := make([][]time.Duration, len(bodies))
	for n := 0; b.Loop(); n++ {
		for i, made := range bodies {
			body, err := made.make(queries[n%len(queries)].Words, search.Query{})
			if err != nil {
				b.Fatal(err)
			}
			started := time.Now()
			if _, err := indices.Search(b.Context(), x.Client, x.Aliases, body); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(started))
		}
	}
	for i := range bodies {
		slices.Sort(times[i])
	}
	for _, at := range []struct {
		name  string
		share float64
	}{{"median", 0.5}, {"p95", 0.95}} {
		milliseconds := func(i int) float64 {
			return float64(times[i][int(at.share*float64(len(times[i])-1))].Microseconds()) / 1000
		}
		simple := len(bodies) - 1
		for i, made := range bodies {
			b.ReportMetric(milliseconds(i), made.name+"-ms/"+at.name)
			if i != simple {
				b.ReportMetric(milliseconds(i)/milliseconds(simple), made.name+"-per-simple/"+at.name)
			}
		}
	}
}

var (
	anyWord = regexp.MustCompile(`\b(Mill|Garden|Lantern|Orchard|Museum|Station|Cedar|Canal|Windmill|Acacia|Library|Parade)\b`)
	anyName = regexp.MustCompile(`"(title|name|city)":"([^"]*)"`)
)

// variant returns the n-th document: the first ones as they are, later ones with
// other ids, codes, names and streets, so that words are not the same everywhere.
func variant(c report.Change, n int) report.Change {
	c.Version = report.Version(n + 1)
	d := dice(n)
	c.ID = report.ID(fmt.Sprintf("%s-%d", c.ID, n))
	if n < 400 {
		return c
	}
	body := string(c.Body)
	if c.Kind == report.Cities {
		if own := anyName.FindStringSubmatch(body); own != nil && own[2] != "" {
			body = strings.ReplaceAll(body, own[2], d.name())
		}
		c.Code = ""
		body = strings.ReplaceAll(body, `"code":`, `"old_code":`)
	}
	c.Body = []byte(anyWord.ReplaceAllStringFunc(body, func(word string) string {
		if d.next(3) > 0 {
			return word
		}
		return d.name()
	}))
	return c
}

// dice draws numbers that depend on the document alone.
type dice uint64

func (d *dice) next(limit uint64) uint64 {
	*d = *d*6364136223846793005 + 1442695040888963407
	return uint64(*d) >> 33 % limit
}

// name invents a name of two to four syllables.
func (d *dice) name() string {
	var b strings.Builder
	for range 2 + d.next(3) {
		b.WriteByte("bcdfghjklmnprstvz"[d.next(17)])
		b.WriteByte("aeiou"[d.next(5)])
		b.WriteString([]string{"", "n", "r", "s", "l"}[d.next(5)])
	}
	name := b.String()
	return strings.ToUpper(name[:1]) + name[1:]
}
