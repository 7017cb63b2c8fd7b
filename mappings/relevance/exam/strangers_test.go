package exam

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/push"
	"riskdex/internal/testkit/relevancetest"
	"riskdex/mappings"
	"riskdex/receiver"
	"riskdex/report"
)

// truth is what a report says, as a person reads it.
type truth struct {
	Kind      report.Kind `json:"kind"`
	ID        string      `json:"id"`
	Title     string      `json:"title"`
	Names     []string    `json:"names"`
	Country   []string    `json:"country"`
	Code      string      `json:"code"`
	Airports  []string    `json:"airports"`
	Position  []float64   `json:"position"`
	Level     *struct{ Rank, Of int }
	Published string   `json:"published_at"`
	Updated   string   `json:"updated_at"`
	Starts    string   `json:"starts_at"`
	Ends      string   `json:"ends_at"`
	Threats   []string `json:"threats"`
	Places    []struct {
		Name string `json:"name"`
	} `json:"places"`
}

type mark struct{ right, wrong, absent, extra int }

func (m mark) String() string {
	n := max(1, m.right+m.wrong+m.absent)
	return fmt.Sprintf("%4d / %2d / %3d", (100*m.right+n/2)/n, (100*m.wrong+n/2)/n, (100*m.absent+n/2)/n)
}

// later are the vendors whose records nobody had looked at when the reading of the others was made, and last
// those that nobody had looked at after these. Some of what they showed has been mended since.
var (
	later = []string{"php-platform", "graphql-hub", "boxed-values", "hypermedia"}
	last  = []string{"block-documents", "option-sets"}
)

// leastRight is the share of values, in %, that has to be right without anything taught: of the first nine
// vendors, of which mostWrong may be wrong, of the later ones, and of the last.
var leastRight = map[string][3]int{
	"title": {99, 98, 99}, "names": {98, 97, 99}, "country": {99, 98, 96}, "code": {99, 97, 99}, "airports": {99, 97, 99}, "position": {99, 97, 99}, "level": {99, 97, 99},
	"published_at": {99, 77, 99}, "updated_at": {99, 97, 68}, "starts_at": {99, 98, 99}, "ends_at": {99, 98, 99}, "threats": {97, 72, 72}, "places": {98, 98, 88},
}

const mostWrong = 1

// TestStrangers reads feeds of vendors whose authors knew nothing of riskdex, untaught, as they were
// delivered, and compares each field with what a person reads.
func TestStrangers(t *testing.T) {
	names, err := filepath.Glob("testdata/strangers/*.feed.jsonl.gz")
	if err != nil || len(names) != 15 {
		t.Fatalf("there are %d feeds, %v", len(names), err)
	}
	all := [3]map[string]*mark{{}, {}, {}}
	for _, name := range names {
		vendor := strings.TrimSuffix(filepath.Base(name), ".feed.jsonl.gz")
		group := 0
		switch {
		case slices.Contains(later, vendor):
			group = 1
		case slices.Contains(last, vendor):
			group = 2
		}
		kinds := report.Kinds()
		live, set := delivery(t, name, kinds)
		slices.Reverse(kinds)
		_, again := delivery(t, name, kinds) // in another order
		for _, kind := range report.Kinds() {
			if set.Hash(kind) != again.Hash(kind) {
				t.Errorf("%s: the same %s in another order are read in another way", vendor, kind)
			}
		}
		lines(t, strings.Replace(name, ".feed.", ".truth.", 1), func(line []byte) {
			f := new(truth)
			if err := json.Unmarshal(line, f); err != nil {
				t.Fatal(err)
			}
			doc := object{} // of what was not accepted, nothing is found
			if c, ok := live[report.Key{Kind: f.Kind, ID: report.ID(f.ID)}]; ok {
				doc = document(t, set, c)
			}
			compare(f, doc, func(field, result, _ string) {
				m := all[group][field]
				if m == nil {
					m = new(mark)
					all[group][field] = m
				}
				switch result {
				case "right":
					m.right++
				case "wrong":
					m.wrong++
				case "absent":
					m.absent++
				case "extra":
					m.extra++
				}
			})
		})
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%% right / wrong / absent, and how many a person does not find\n%-14s %32s %32s %32s\n", "", "nine", "four later ones", "the last two")
	for _, field := range slices.Sorted(maps.Keys(leastRight)) {
		fmt.Fprintf(&table, "%-14s", field)
		for group, least := range leastRight[field] {
			m := all[group][field]
			n := m.right + m.wrong + m.absent
			fmt.Fprintf(&table, " %17s %5d of %5d", m, m.extra, n)
			if 100*m.right < least*n || group == 0 && 100*m.wrong > mostWrong*n {
				t.Errorf("%s: %s %% right / wrong / absent, want at least %d %% right, and of the first at most %d %% wrong", field, m, least, mostWrong)
			}
		}
		table.WriteByte('\n')
	}
	t.Logf("\n%s", table.String())
}

// delivery returns what is accepted of a feed, as it was delivered, and how it is read untaught if its kinds
// come in this order.
func delivery(t *testing.T, name string, kinds []report.Kind) (map[report.Key]report.Change, *mappings.Set) {
	t.Helper()
	var requests []push.Request
	lines(t, name, func(line []byte) {
		var r struct {
			Method, Path string
			Body         json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, push.Request{Method: r.Method, Path: r.Path, Body: r.Body})
	})
	cfg := receiver.DefaultConfig()
	if strings.Contains(name, "option-sets") { // whose cities are refused otherwise: three of their members may be the id
		cfg.IDs = map[report.Kind][]string{report.Cities: {"/cr7e1_byrapportid"}}
	}
	live := map[report.Key]report.Change{}
	for _, c := range delivered(t, cfg, requests) {
		live[c.Key] = c
	}
	set, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		var changes []report.Change
		for key, c := range live {
			if key.Kind == kind {
				changes = append(changes, c)
			}
		}
		set.See(kind, changes, true)
	}
	return live, set
}

// TestStrangersAreFound asks the queries of the vendors' authors, untaught.
func TestStrangersAreFound(t *testing.T) {
	names, err := filepath.Glob("testdata/strangers/*.feed.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	var all []relevancetest.Outcome
	for _, name := range names {
		live, set := delivery(t, name, report.Kinds())
		e := build(t, []batch{{set, slices.Collect(maps.Values(live))}})
		var queries []relevancetest.Query
		lines(t, strings.Replace(name, ".feed.", ".queries.", 1), func(line []byte) {
			var q struct {
				Q, Class string
				Relevant map[string]int
			}
			if err := json.Unmarshal(line, &q); err != nil {
				t.Fatal(err)
			}
			queries = append(queries, relevancetest.Query{Class: q.Class, Words: q.Q, Grades: q.Relevant})
		})
		outcomes := ask(t, e, queries, e.own)
		for _, o := range outcomes {
			if o.Rank == 0 || o.Rank > 3 {
				t.Logf("%s: %s: %q: rank %d, nDCG %.2f, %v", filepath.Base(name), o.Query.Class, o.Query.Words, o.Rank, o.NDCG, o.Hits[:min(3, len(o.Hits))])
			}
		}
		all = append(all, outcomes...)
	}
	var table strings.Builder
	scores := relevancetest.ByClass(all)
	for _, class := range slices.Sorted(maps.Keys(scores)) {
		s := scores[class]
		fmt.Fprintf(&table, "%-32s %4d queries  MRR %.2f  nDCG %.2f\n", class, s.Queries, s.MRR, s.NDCG)
	}
	t.Logf("\n%s", table.String())
	const mrr, ndcg = 0.90, 0.91
	if s := scores["all"]; s.MRR < mrr || s.NDCG < ndcg {
		t.Errorf("MRR %.3f, nDCG %.3f over all, want %.2f and %.2f", s.MRR, s.NDCG, mrr, ndcg)
	}
}

// lines calls each with every line of a packed file.
func lines(t *testing.T, name string, each func([]byte)) {
	t.Helper()
	packed, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		each(s.Bytes())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, of := range v {
			if s, ok := of.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}

func compare(f *truth, doc object, note func(field, result, detail string)) {
	text := func(field, want string, got any) {
		g, _ := got.(string)
		switch {
		case want == "" && g == "":
		case want == "":
			note(field, "extra", g)
		case g == "":
			note(field, "absent", want)
		case strings.EqualFold(strings.TrimSpace(g), strings.TrimSpace(want)):
			note(field, "right", "")
		default:
			note(field, "wrong", fmt.Sprintf("want %q, got %q", want, g))
		}
	}
	list := func(field string, want, got []string) {
		fold := func(all []string) []string {
			var folded []string
			for _, s := range all {
				folded = append(folded, strings.ToLower(s))
			}
			slices.Sort(folded)
			return slices.Compact(folded)
		}
		w, g := fold(want), fold(got)
		switch {
		case len(w) == 0 && len(g) == 0:
		case len(w) == 0:
			note(field, "extra", fmt.Sprint(g))
		case len(g) == 0:
			note(field, "absent", fmt.Sprint(w))
		case slices.Equal(w, g):
			note(field, "right", "")
		default:
			note(field, "wrong", fmt.Sprintf("want %q, got %q", w, g))
		}
	}
	text("title", f.Title, doc["title"])
	title, _ := doc["title"].(string)
	if f.Kind == report.Cities {
		inTitle := func(s string) bool { return strings.Contains(title, s) } // it is found anyway
		names, got := slices.DeleteFunc(slices.Clone(f.Names), inTitle), slices.DeleteFunc(texts(doc["names"]), inTitle)
		list("names", names, got)
		text("code", f.Code, doc["code"])
		list("airports", f.Airports, texts(doc["airports"]))
	}
	list("country", f.Country, texts(doc["country"]))
	var at []float64
	if l, ok := doc["location"].(object); ok {
		at = []float64{l["lat"].(float64), l["lon"].(float64)}
	}
	switch {
	case len(f.Position) < 2 && at == nil:
	case len(f.Position) < 2:
		note("position", "extra", fmt.Sprint(at))
	case at == nil:
		note("position", "absent", fmt.Sprint(f.Position))
	case math.Abs(at[0]-f.Position[0]) < 0.5 && math.Abs(at[1]-f.Position[1]) < 0.5:
		note("position", "right", "")
	default:
		note("position", "wrong", fmt.Sprint("want ", f.Position, " got ", at))
	}
	level, has := doc["risk_level"].(float64)
	switch {
	case f.Level == nil && !has:
	case f.Level == nil:
		note("level", "extra", fmt.Sprint(level))
	case !has:
		note("level", "absent", fmt.Sprint(*f.Level))
	default:
		exact := 1 + 4*float64(f.Level.Rank-1)/float64(f.Level.Of-1)
		if math.Abs(exact-level) < 1 {
			note("level", "right", "")
		} else {
			note("level", "wrong", fmt.Sprintf("want %v, got %v", *f.Level, level))
		}
	}
	date := func(field, want string) {
		g, _ := doc[field].(string)
		day := want
		if len(day) > 10 {
			day = day[:10]
		}
		switch {
		case want == "" && g == "":
		case want == "":
			note(field, "extra", g)
		case g == "":
			note(field, "absent", want)
		case strings.HasPrefix(g, day) && (len(want) <= 10 || len(g) < 16 || len(want) < 16 || g[:16] == want[:16]):
			note(field, "right", "")
		default:
			note(field, "wrong", fmt.Sprintf("want %s, got %s", want, g))
		}
	}
	date("published_at", f.Published)
	date("updated_at", f.Updated)
	date("starts_at", f.Starts)
	date("ends_at", f.Ends)
	got := texts(doc["threats"])
	if len(f.Threats) > 0 {
		for _, threat := range f.Threats {
			if slices.Contains(got, threat) {
				note("threats", "right", "")
			} else {
				note("threats", "absent", threat)
			}
		}
		for _, threat := range got {
			if !slices.Contains(f.Threats, threat) {
				note("threats", "extra", threat)
			}
		}
	}
	var places []string
	if all, ok := doc["places"].([]any); ok {
		for _, p := range all {
			if o, ok := p.(object); ok {
				if name, ok := o["name"].(string); ok {
					places = append(places, strings.ToLower(name))
				}
			}
		}
	}
	for _, p := range f.Places {
		if slices.Contains(places, strings.ToLower(p.Name)) {
			note("places", "right", "")
		} else {
			note("places", "absent", p.Name)
		}
	}
}
