// Package exam asks riskdex questions that it was not made for. Six invented vendors
// publish reports on the world's cities and countries and on what happens there. Each has a
// record shape of its own that the built-in mappings were not written for. queries.tsv has
// what travellers type, and what they mean by it. The right answers follow from the facts
// that the feed is made from.
//
// Each vendor's records come into the index in two ways: taught, with the receiver's
// settings and a mapping file that its operator would write (testdata/taught); and
// untaught, with nothing but what is built in. A record that is refused is not found.
// TestUntaughtIDs holds that a vendor that sends each record to its own path finds the same.
package exam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/relevancetest"
	"riskdex/mappings"
	"riskdex/receiver"
	"riskdex/report"
	"riskdex/search"
)

func TestMain(m *testing.M) { os.Exit(elastictest.Main(m)) }

func TestExam(t *testing.T) {
	w := newWorld(t)
	w.populate(t)
	queries := w.judge(t, "queries.tsv", queriesFile)
	if t.Failed() {
		return
	}
	taught, untaught := w.changes(t, true), w.changes(t, false)
	first, second, bare := build(t, taught), build(t, reordered(taught)), build(t, untaught)

	results := sheet{
		"taught":   ask(t, first, queries, first.own),
		"untaught": ask(t, bare, queries, bare.own),
		"plain":    ask(t, first, queries, plainBody),
		"simple":   ask(t, first, queries, simpleBody),
	}
	if t.Failed() { // some searches had no answer
		return
	}
	repeated(t, second, results["taught"])
	for _, a := range results["taught"] {
		if a.Rank != 1 && a.Query.Class != nonsense || a.Query.Class == nonsense && len(a.Hits) > 0 {
			t.Logf("%s: %q: rank %d, nDCG %.2f: %s", a.Query.Class, a.Query.Words, a.Rank, a.NDCG, w.describe(a.Hits[:min(5, len(a.Hits))]))
		}
	}
	t.Logf("\n%s", results.table())
	results.check(t)
}

// repeated asks every third query again of another build of the same data, and reports those that
// do not find the same in the same order.
func repeated(t *testing.T, second engine, outcomes []relevancetest.Outcome) {
	t.Helper()
	var queries []relevancetest.Query
	for i := 0; i < len(outcomes); i += 3 {
		queries = append(queries, outcomes[i].Query)
	}
	for i, again := range ask(t, second, queries, second.own) {
		if before := outcomes[3*i].Hits; !slices.Equal(again.Hits, before) {
			t.Errorf("%s: %q has another order in another build of the same data: %v, then %v", again.Query.Class, again.Query.Words, before, again.Hits)
		}
	}
}

// changes delivers what every vendor publishes, and returns what an index has to hold, by
// vendor.
func (w *world) changes(t *testing.T, taught bool) []batch {
	t.Helper()
	var batches []batch
	for _, v := range vendors() {
		facts := w.of(v)
		cfg := receiver.DefaultConfig()
		if taught {
			cfg.IDs, cfg.Codes, cfg.Records = v.taught.IDs, v.taught.Codes, v.taught.Records
		}
		live := delivered(t, cfg, w.posts(t, v, facts))
		found := 0
		for i := range live {
			live[i].AcceptedAt = lastDay
			if slices.ContainsFunc(facts, func(f *fact) bool { return f.kind == live[i].Kind && f.id == string(live[i].ID) }) {
				found++
			}
		}
		if found != len(facts) {
			t.Errorf("%s: %d of %d records have come in under their ids", v.name, found, len(facts))
		}
		batches = append(batches, batch{v.set(t, taught), live})
	}
	return batches
}

// batch is what one vendor publishes, and the set that makes documents of it.
type batch struct {
	set     *mappings.Set
	changes []report.Change
}

// reordered returns the same batches in another order.
func reordered(batches []batch) []batch {
	var all []batch
	for _, b := range slices.Backward(batches) {
		changes := slices.Clone(b.changes)
		luck("order").Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		all = append(all, batch{b.set, changes})
	}
	return all
}

// set returns the mappings for a vendor: the built-in ones, with those of testdata/taught
// before them, as an operator would add them to the files that riskdex exports.
func (v *vendor) set(t *testing.T, taught bool) *mappings.Set {
	t.Helper()
	files := fstest.MapFS{}
	names, err := fs.Glob(mappings.Files(), "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(mappings.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		if kind := report.Kind(strings.TrimSuffix(name, ".json")); taught && slices.Contains(report.Kinds(), kind) {
			lesson, err := os.ReadFile("testdata/taught/" + v.name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var own, builtin object
			if err := errors.Join(json.Unmarshal(lesson, &own), json.Unmarshal(data, &builtin)); err != nil {
				t.Fatal(err)
			}
			if data, err = json.Marshal(merged(own, builtin)); err != nil {
				t.Fatal(err)
			}
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	set, err := mappings.Load(files)
	if err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	return set
}

// merged puts the elements of own before those of builtin, and its members beside them.
func merged(own, builtin any) any {
	switch own := own.(type) {
	case object:
		if theirs, ok := builtin.(object); ok {
			both := maps.Clone(theirs)
			for name, value := range own {
				both[name] = merged(value, theirs[name])
			}
			return both
		}
	case []any:
		if theirs, ok := builtin.([]any); ok {
			return append(slices.Clone(own), theirs...)
		}
	}
	return own
}

// engine is an index with all that was delivered.
type engine struct{ *relevancetest.Index }

func build(t *testing.T, batches []batch) engine {
	t.Helper()
	set, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	e := engine{relevancetest.NewIndex(t, set)}
	for _, b := range batches {
		e.Add(t, b.set, b.changes)
	}
	e.Show(t)
	return e
}

// own makes the body that riskdex sends, without highlights and fields, which do not change
// the order.
func (e engine) own(class, words string) ([]byte, error) {
	make := e.Set.SearchBody
	if class == completion {
		make = e.Set.CompleteBody
	}
	body, err := make(words, search.Query{Size: 10})
	if err != nil {
		return nil, err
	}
	var members object
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&members); err != nil {
		return nil, err
	}
	delete(members, "highlight")
	members["_source"] = []string{"kind"}
	return json.Marshal(members)
}

// ask sends every query, a few at a time.
func ask(t *testing.T, e engine, queries []relevancetest.Query, body func(class, words string) ([]byte, error)) []relevancetest.Outcome {
	t.Helper()
	outcomes := make([]relevancetest.Outcome, len(queries))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	search := func(ctx context.Context, q relevancetest.Query) ([]string, error) {
		b, err := body(q.Class, q.Words)
		if err != nil {
			return nil, err
		}
		return e.Search(ctx, b)
	}
	for i, q := range queries {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			hits, err := search(t.Context(), q)
			if err != nil {
				t.Errorf("%s: %q: %v", q.Class, q.Words, err)
				return
			}
			outcomes[i] = relevancetest.Measure(q, hits)
			if q.Class == nonsense {
				outcomes[i].Rank, outcomes[i].NDCG = 0, 0
				if len(hits) == 0 {
					outcomes[i].Rank, outcomes[i].NDCG = 1, 1
				}
			}
		})
	}
	wg.Wait()
	return outcomes
}

// describe says what documents are about.
func (w *world) describe(keys []string) string {
	var all []string
	for _, key := range keys {
		i := slices.IndexFunc(w.documents, func(f *fact) bool { return f.key() == key })
		if i < 0 {
			all = append(all, key)
			continue
		}
		f := w.documents[i]
		switch f.topic {
		case aCity:
			all = append(all, "city "+f.city.name+"/"+f.country.code)
		case aNation:
			all = append(all, "nation "+f.country.code+" "+f.lang)
		default:
			all = append(all, f.threat+"@"+f.city.name+"/"+f.country.code)
		}
	}
	return strings.Join(all, ", ")
}
