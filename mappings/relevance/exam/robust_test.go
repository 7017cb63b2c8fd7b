package exam

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/mappings"
	"riskdex/report"
)

// robustFields are the fields of a document that a column fills. What most of them are, values tell alone.
var robustFields = []string{"title", "names", "country", "code", "airports", "location", "risk_level", "published_at", "updated_at", "starts_at", "ends_at", "threats", "places"}

// byValue are the fields whose values tell what they are, whatever they are called. Which of two dates is that of the
// publication, and what a number or a letter rates, names have to say.
var byValue = []string{"country", "code", "airports", "location"}

// TestRobust damages one value in a hundred of each feed, and gives columns names that say nothing. What is found in
// it then has to read the feed as it was delivered in the same way. Of each feed a kind and some columns are tried;
// RISKDEX_TEST_SEED takes others, and RISKDEX_TEST_ALL all of them.
func TestRobust(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("RISKDEX_TEST_SEED"), 10, 64)
	all := os.Getenv("RISKDEX_TEST_ALL") != ""
	const columns = 2
	names, err := filepath.Glob("testdata/strangers/*.feed.jsonl.gz")
	if err != nil || len(names) != 15 {
		t.Fatalf("there are %d feeds, %v", len(names), err)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	var damaged, renamed, beside tallied
	for _, name := range names {
		vendor := strings.TrimSuffix(filepath.Base(name), ".feed.jsonl.gz")
		live, _ := delivery(t, name, report.Kinds())
		kinds := map[report.Kind][]report.Change{}
		for _, key := range slices.SortedFunc(maps.Keys(live), func(a, b report.Key) int { return strings.Compare(string(a.ID), string(b.ID)) }) {
			kinds[key.Kind] = append(kinds[key.Kind], live[key])
		}
		tried := slices.Sorted(maps.Keys(kinds))
		if i := r.IntN(len(tried)); !all {
			tried = tried[i : i+1]
		}
		for _, kind := range tried {
			changes := kinds[kind]
			was := readAs(t, changes, changes)
			about := fmt.Sprintf("%s %s", vendor, kind)
			damaged.add(t, about+", damaged", was, readAs(t, damage(t, changes, r), changes), robustFields)

			fills := filledBy(t, changes)
			order := slices.Sorted(maps.Keys(fills))
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			if !all {
				order = order[:min(columns, len(order))]
			}
			for _, path := range order {
				other := rename(t, changes, path)
				now := readAs(t, other, other)
				about := fmt.Sprintf("%s, %s without its name", about, path)
				own := func(field string) bool { // other names are those that the title has not
					return slices.Contains(fills[path], field) || field == "names" && slices.Contains(fills[path], "title")
				}
				renamed.add(t, about, was, now, slices.DeleteFunc(slices.Clone(byValue), func(f string) bool { return !own(f) }))
				beside.add(t, about, was, now, slices.DeleteFunc(slices.Clone(robustFields), own))
			}
		}
	}
	for what, of := range map[string]struct {
		tallied
		least int
	}{"damaged": {damaged, 995}, "renamed": {renamed, 950}, "beside what was renamed": {beside, 995}} {
		t.Logf("%s: %d of %d values are the same", what, of.same, of.all)
		if of.all == 0 || 1000*of.same < of.least*of.all {
			t.Errorf("%s: %d of %d values are the same, want %d in a thousand", what, of.same, of.all, of.least)
		}
	}
}

// tallied is how many values are the same, of those that are there.
type tallied struct{ same, all int }

func (n *tallied) add(t *testing.T, about string, was, now []object, fields []string) {
	for _, f := range fields {
		var here tallied
		for i := range was {
			if was[i][f] == nil && now[i][f] == nil {
				continue
			}
			here.all++
			if fmt.Sprint(was[i][f]) == fmt.Sprint(now[i][f]) {
				here.same++
			}
		}
		if here.same < here.all {
			t.Logf("%s: %d of %d values of %s are the same", about, here.same, here.all, f)
		}
		n.same, n.all = n.same+here.same, n.all+here.all
	}
}

// readAs reads changes as others tell.
func readAs(t *testing.T, told, changes []report.Change) (docs []object) {
	t.Helper()
	set, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	set.See(told[0].Kind, told, true)
	for _, c := range changes {
		docs = append(docs, document(t, set, c))
	}
	return docs
}

// rewrite returns changes with other names and scalars. The order of members stays.
func rewrite(t *testing.T, changes []report.Change, name func(path, name string) string, scalar func(jsontext.Token) string) []report.Change {
	t.Helper()
	changes = slices.Clone(changes)
	for i := range changes {
		var out bytes.Buffer
		from, to := jsontext.NewDecoder(bytes.NewReader(changes[i].Body)), jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
		for from.PeekKind() != 0 {
			of, n := from.StackIndex(from.StackDepth())
			tok, err := from.ReadToken()
			if err == nil {
				switch text := ""; tok.Kind() {
				case '{', '}', '[', ']':
					err = to.WriteToken(tok)
				default:
					if of == '{' && n%2 == 0 {
						text = quoted(name(members(from.StackPointer()), tok.String()))
					} else {
						text = scalar(tok)
					}
					if text == "" {
						err = to.WriteToken(tok)
					} else {
						err = to.WriteValue(jsontext.Value(text))
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		changes[i].Body = bytes.TrimSpace(out.Bytes())
	}
	return changes
}

func quoted(s string) string {
	text, _ := jsontext.AppendQuote(nil, s)
	return string(text)
}

// members returns the names in a pointer to a value or a column, without the elements of lists.
func members(p jsontext.Pointer) string {
	var path jsontext.Pointer
	for name := range p.Tokens() {
		if _, err := strconv.Atoi(name); err != nil && name != "*" && name[:min(1, len(name))] != "[" {
			path = path.AppendToken(name)
		}
	}
	return string(path)
}

// damage replaces one value in a hundred.
func damage(t *testing.T, changes []report.Change, r *rand.Rand) []report.Change {
	t.Helper()
	bad := []string{"null", `""`, `"n/a"`, "0", "-1", `"???"`, `"1970-01-01"`, "true"}
	return rewrite(t, changes, func(_, name string) string { return name }, func(jsontext.Token) string {
		if r.IntN(100) > 0 {
			return ""
		}
		return bad[r.IntN(len(bad))]
	})
}

// rename gives the column at a path a name that says nothing.
func rename(t *testing.T, changes []report.Change, path string) []report.Change {
	t.Helper()
	return rewrite(t, changes, func(of, name string) string {
		if of == path && strings.HasSuffix(path, "/"+name) {
			return "zqxv"
		}
		return name
	}, func(jsontext.Token) string { return "" })
}

// filledBy returns which fields are filled from each column, by its path, but for those that a table tells, or
// whose names are data.
func filledBy(t *testing.T, changes []report.Change) map[string][]string {
	t.Helper()
	set, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for _, c := range changes {
		bodies = append(bodies, c.Body)
	}
	_, found, err := set.Infer(changes[0].Kind, bodies)
	if err != nil {
		t.Fatal(err)
	}
	fills := map[string][]string{}
	for _, f := range found {
		if path := members(f.Pointer); path != "" && !strings.ContainsAny(path, "{#") && !strings.HasSuffix(path, "/coordinates") { // GeoJSON
			fills[path] = append(fills[path], f.Field)
		}
	}
	return fills
}
