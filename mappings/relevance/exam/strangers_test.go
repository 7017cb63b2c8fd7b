package exam

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/push"
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

func lines(t *testing.T, name string, each func([]byte)) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		if len(bytes.TrimSpace(s.Bytes())) > 0 {
			each(s.Bytes())
		}
	}
}

func TestStrangers(t *testing.T) {
	folder := os.Getenv("EXAM")
	if folder == "" {
		t.Skip("no EXAM")
	}
	set, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, vendor := range strings.Fields(os.Getenv("VENDORS")) {
		dir := filepath.Join(folder, vendor)
		cities, err := os.ReadFile(filepath.Join(dir, "cities.json"))
		if err != nil {
			t.Fatal(err)
		}
		requests := []push.Request{{Method: "POST", Path: "/cities", Body: cities}}
		for _, kind := range []string{"advisories", "special-reports"} {
			lines(t, filepath.Join(dir, kind+".jsonl"), func(line []byte) {
				var r struct {
					Method, Path string
					Body         json.RawMessage
				}
				if err := json.Unmarshal(line, &r); err != nil {
					t.Fatal(err)
				}
				requests = append(requests, push.Request{Method: r.Method, Path: r.Path, Body: r.Body})
			})
		}
		live := delivered(t, receiver.DefaultConfig(), requests)
		facts := map[string]*truth{}
		lines(t, filepath.Join(dir, "truth.jsonl"), func(line []byte) {
			f := new(truth)
			if err := json.Unmarshal(line, f); err != nil {
				t.Fatal(err)
			}
			facts[string(f.Kind)+"/"+f.ID] = f
		})
		byKind := map[report.Kind][]report.Change{}
		for _, c := range live {
			byKind[c.Kind] = append(byKind[c.Kind], c)
		}
		var out strings.Builder
		fmt.Fprintf(&out, "\n%s: %d truths, %d delivered\n", vendor, len(facts), len(live))
		chained := set
		for _, kind := range report.Kinds() {
			var records [][]byte
			for _, c := range byKind[kind] {
				records = append(records, c.Body)
			}
			began := time.Now()
			inferred, found, err := chained.Infer(kind, records)
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			chained = inferred
			marks := [2]map[string]*mark{{}, {}}
			samples := map[string]string{}
			for _, c := range byKind[kind] {
				f := facts[string(kind)+"/"+string(c.ID)]
				if f == nil {
					fmt.Fprintf(&out, "  no truth on %s/%s\n", kind, c.ID)
					continue
				}
				for i, s := range []*mappings.Set{set, inferred} {
					compare(f, document(t, s, c), func(field, result, detail string) {
						m := marks[i][field]
						if m == nil {
							m = new(mark)
							marks[i][field] = m
						}
						switch result {
						case "right":
							m.right++
						case "wrong":
							m.wrong++
							if i == 1 {
								samples[field] = detail
							}
						case "absent":
							m.absent++
							if i == 1 && samples[field] == "" {
								samples[field] = detail
							}
						case "extra":
							m.extra++
							if i == 1 && samples[field] == "" {
								samples[field] = "extra " + detail
							}
						}
					})
				}
			}
			fmt.Fprintf(&out, " %s: %d records, inferred in %v\n", kind, len(records), took)
			for _, field := range []string{"title", "names", "country", "code", "airports", "position", "level", "published_at", "updated_at", "starts_at", "ends_at", "threats", "threats of", "places"} {
				a, b := marks[0][field], marks[1][field]
				if a == nil || b == nil {
					continue
				}
				pc := func(m *mark) string {
					n := m.right + m.wrong + m.absent
					if n == 0 {
						return fmt.Sprintf("  none, %d extra", m.extra)
					}
					return fmt.Sprintf("%3d right %3d wrong %3d absent of %d, %d extra", 100*m.right/n, 100*m.wrong/n, 100*m.absent/n, n, m.extra)
				}
				fmt.Fprintf(&out, "   %-12s now %s │ inferred %s   %s\n", field, pc(a), pc(b), samples[field])
			}
			if os.Getenv("FOUND") != "" {
				for _, f := range found {
					fmt.Fprintf(&out, "      %-12s %s (%d) %s\n", f.Field, f.Pointer, f.Records, f.Why)
				}
			}
		}
		t.Log(out.String())
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
	names := slices.DeleteFunc(slices.Clone(f.Names), func(s string) bool { return s == title })
	if f.Kind == report.Cities {
		got := slices.DeleteFunc(texts(doc["names"]), func(s string) bool { return strings.Contains(title, s) }) // it is found anyway
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
