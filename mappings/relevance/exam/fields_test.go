package exam

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/push"
	"riskdex/internal/testkit/relevancetest"
	"riskdex/mappings"
	"riskdex/receiver"
	"riskdex/report"
)

// compared are the fields of a document that a mapping file may fill.
var compared = []string{
	"code", "title", "names", "names_known", "country", "risk_level", "risk_label", "airports", "places", "location",
	"summary", "starts_at", "ends_at", "published_at", "updated_at", "threats", "whole_country", "codes_known", "text",
}

// likeness says how the documents of a vendor without a mapping file compare with those with
// one, for one field: how many have it with and without, how many of those with one have the
// same value without, and how many without have another value than with.
type likeness struct{ taught, untaught, same, other int }

// lost are the fields that are not found without a mapping file, or not always: the least share
// of the values with one. Of everything else nearly all must be found.
var lost = map[string]float64{
	"boreal risk_level": 0.75,                         // one label is not known
	"delta starts_at":   0,                            // the window opens
	"delta ends_at":     0,                            // and closes
	"fjord names":       0,                            // its file has the city of an event among them
	"fjord airports":    0,                            // gateways
	"fjord text":        0.85,                         // it has the codes of these
	"gannet risk_level": 0, "gannet risk_label": 0.95, // green, orange and red may be three levels or four
	"gannet text": 0,
	"heron code":  0, "heron country": 0.1, "heron risk_level": 0, "heron risk_label": 0, "heron airports": 0, "heron places": 0, // in a group with a name of its own
	"heron starts_at": 0, "heron ends_at": 0, "heron location": 0, "heron threats": 0.29, "heron names_known": 0.6, "heron codes_known": 0.3, "heron text": 0,
	"ibis names": 0, "ibis names_known": 0, "ibis places": 0.75, "ibis starts_at": 0, "ibis ends_at": 0, "ibis airports": 0, "ibis text": 0.85, // the values tell
}

// prosaic are the fields that may differ: a wrong value is not worse than none.
var prosaic = []string{"names_known", "places", "threats", "text"}

// TestUntaughtFields makes the documents of every vendor with its mapping file and without,
// and prints what the latter lack. They may lack something, but must have nothing wrong.
func TestUntaughtFields(t *testing.T) {
	w := newWorld(t)
	w.populate(t)
	all := map[string]map[string]*likeness{}
	var names []string
	records := map[string]int{}
	for _, v := range slices.Concat(vendors(), heldOut()) {
		own := w.of(v)
		live := delivered(t, receiver.DefaultConfig(), w.puts(t, own))
		if len(live) != len(own) {
			t.Fatalf("%s: %d of %d records have come in", v.name, len(live), len(own))
		}
		fields := map[string]*likeness{}
		for _, name := range compared {
			fields[name] = new(likeness)
		}
		taught, bare := v.set(t, true), v.set(t, false)
		for _, c := range live {
			with, without := document(t, taught, c), document(t, bare, c)
			for _, name := range compared {
				fields[name].add(with[name], without[name])
			}
		}
		all[v.name], records[v.name] = fields, len(live)
		names = append(names, v.name)
	}
	var b strings.Builder
	b.WriteString("Share of the records in %: with a mapping file / without, the same, another value\n\n               ")
	for _, name := range names {
		fmt.Fprintf(&b, " │%17s", name)
	}
	b.WriteString("\n")
	for _, field := range compared {
		fmt.Fprintf(&b, "%-15s", field)
		for _, name := range names {
			l := all[name][field]
			share := func(n int) int { return (100*n + records[name]/2) / records[name] }
			fmt.Fprintf(&b, " │%4d/%3d %3d= %2d≠", share(l.taught), share(l.untaught), share(l.same), share(l.other))
		}
		b.WriteString("\n")
	}
	for _, name := range names {
		for field, l := range all[name] {
			least, known := lost[name+" "+field]
			if !known {
				least = 0.98
			}
			if float64(l.same) < least*float64(l.taught) {
				t.Errorf("%s: %s is found in %d of %d records, want %.0f %%", name, field, l.same, l.taught, 100*least)
			}
			if l.other > 0 && !slices.Contains(prosaic, field) {
				t.Errorf("%s: %s is another one than with a mapping file in %d records", name, field, l.other)
			}
		}
	}
	t.Logf("\n%s", b.String())
}

func (l *likeness) add(with, without any) {
	if with != nil {
		l.taught++
	}
	if without != nil {
		l.untaught++
	}
	switch {
	case without == nil:
	case reflect.DeepEqual(with, without):
		l.same++
	default:
		l.other++
	}
}

// TestUntaughtIDs posts what every vendor publishes without telling the receiver anything. What
// is accepted must be what a PUT of each record to its own path makes; a record whose id is not
// certain must be refused.
func TestUntaughtIDs(t *testing.T) {
	w := newWorld(t)
	w.populate(t)
	for _, v := range slices.Concat(vendors(), heldOut()) {
		facts := w.of(v)
		type change struct{ id, code, body string }
		brought := func(requests []push.Request) map[change]bool {
			all := map[change]bool{}
			for _, c := range delivered(t, receiver.DefaultConfig(), requests) {
				all[change{string(c.Kind) + "/" + string(c.ID), c.Code, string(c.Body)}] = true
			}
			return all
		}
		byPath, posted := brought(w.puts(t, facts)), brought(w.posts(t, v, facts))
		for c := range posted {
			if !byPath[c] {
				t.Errorf("%s: a POST brings in %s (%s), which no PUT does", v.name, c.id, c.code)
			}
		}
		want := len(facts)
		if v == gannet { // what its events state is the id of an event, of which there may be several reports
			want -= len(slices.DeleteFunc(slices.Clone(facts), func(f *fact) bool { return f.topic != anEvent }))
		}
		if len(byPath) != len(facts) || len(posted) != want {
			t.Errorf("%s: of %d records, %d come in by their paths and %d in POSTs, want %d", v.name, len(facts), len(byPath), len(posted), want)
		}
	}
}

// document returns the members of the document that a set makes of a change.
func document(t *testing.T, set *mappings.Set, c report.Change) object {
	t.Helper()
	doc, _, err := set.AppendDocument(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	var members object
	if err := json.Unmarshal(doc, &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range members { // the order of a list counts for nothing, nor does the title as a name or place
		if list, ok := value.([]any); ok {
			list = slices.DeleteFunc(list, func(v any) bool {
				place, _ := v.(object)
				return members["title"] != nil && (v == members["title"] || place["name"] == members["title"])
			})
			if members[name] = list; len(list) == 0 {
				delete(members, name)
			}
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return members
}

// of returns the facts that a vendor writes about. Those held out write about some of what
// the others write about in English.
func (w *world) of(v *vendor) []*fact {
	var own []*fact
	for i, f := range w.documents {
		switch {
		case f.vendor == v:
			own = append(own, f)
		case slices.Contains(heldOut(), v) && f.lang == "en" && i%7 == 0:
			other := *f
			other.vendor, other.id = v, v.id(i)
			own = append(own, &other)
		}
	}
	return own
}

// posts returns, for every kind, a POST of all records that a vendor publishes.
func (w *world) posts(t *testing.T, v *vendor, facts []*fact) []push.Request {
	t.Helper()
	records := map[report.Kind][]object{}
	for _, f := range facts {
		records[f.kind] = append(records[f.kind], v.record(w, f, w.write(f)))
	}
	var requests []push.Request
	for _, kind := range report.Kinds() {
		if records[kind] == nil {
			continue
		}
		body, err := json.Marshal(object{v.envelope: records[kind]})
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, push.Request{Method: http.MethodPost, Path: "/" + string(kind), Body: body})
	}
	return requests
}

// puts returns a PUT for the record of every fact.
func (w *world) puts(t *testing.T, facts []*fact) []push.Request {
	t.Helper()
	var requests []push.Request
	for _, f := range facts {
		body, err := json.Marshal(f.vendor.record(w, f, w.write(f)))
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, push.Request{Method: http.MethodPut, Path: "/" + string(f.kind) + "/" + url.PathEscape(f.id), Body: body})
	}
	return requests
}

// delivered returns what an index has to hold after requests.
func delivered(t *testing.T, cfg receiver.Config, requests []push.Request) []report.Change {
	t.Helper()
	_, live := relevancetest.Deliver(t, cfg, requests)
	return live
}
