package exam

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/relevancetest"
)

//go:embed queries.tsv
var queriesFile string

// nonsense is the class of queries that must find nothing, completion the class of those
// that are typed into completion.
const nonsense, completion = "nonsense", "completion"

// judge reads a file of queries and applies its rules to the facts of the feed.
func (w *world) judge(t testing.TB, name, file string) []relevancetest.Query {
	t.Helper()
	var all []relevancetest.Query
	for i, line := range strings.Split(strings.TrimSpace(file), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			t.Fatalf("%s:%d: %d columns, want class, query and rules", name, i+1, len(columns))
		}
		q := relevancetest.Query{Class: columns[0], Words: columns[1], Grades: map[string]int{}}
		if (columns[2] == "nothing") != (q.Class == nonsense) {
			t.Fatalf("%s:%d: nonsense must find nothing, and all else something", name, i+1)
		}
		if q.Class != nonsense {
			for rule := range strings.SplitSeq(columns[2], "; ") {
				if err := w.apply(rule, q.Grades); err != nil {
					t.Errorf("%s:%d: %q: %v", name, i+1, rule, err)
				}
			}
		}
		all = append(all, q)
	}
	return all
}

// apply gives documents the grades of a rule.
func (w *world) apply(rule string, grades map[string]int) error {
	steps, err := w.steps(rule)
	if err != nil {
		return err
	}
	for i, s := range steps {
		n := 0
		for _, f := range w.documents {
			if s.fits(f) {
				grades[f.key()] = max(grades[f.key()], s.grade)
				n++
			}
		}
		if i == 0 && n == 0 {
			return errors.New("no document fits it")
		}
	}
	return nil
}

// step gives a grade to documents.
type step struct {
	grade int
	fits  func(*fact) bool
}

// steps reads a rule. Without a grade it stands for several steps, of which the first
// has to fit something.
func (w *world) steps(rule string) ([]step, error) {
	if grade := int(rule[0] - '0'); grade >= 1 && grade <= 3 && rule[1] == ' ' {
		fits, err := w.test(rule[2:])
		return []step{{grade, fits}}, err
	}
	parts := []string{rule}
	grades := []int{3}
	also := func(grade int, part string) { parts, grades = append(parts, part), append(grades, grade) }
	word, argument, _ := strings.Cut(rule, " ")
	threat, at, located := strings.Cut(rule, "@")
	switch {
	case word == "city":
		also(2, "events "+argument)
	case word == "nation":
		also(2, rule+" any")
		also(2, "top "+argument)
		also(1, "cities "+argument)
	case word == "place":
	case located && w.countries[at] != nil:
		also(2, "nation "+at)
		also(1, "nation "+at+" any")
	case located && categoryOf(threat, "en") != "":
		also(2, "city "+at)
		also(1, "events "+at)
	}
	var all []step
	for i, part := range parts {
		fits, err := w.test(part)
		if err != nil {
			return nil, err
		}
		all = append(all, step{grades[i], fits})
	}
	return all, nil
}

// test reads the part of a rule that says which documents it is about.
func (w *world) test(part string) (func(*fact) bool, error) {
	word, argument, _ := strings.Cut(part, " ")
	about := func(name string) (*city, error) {
		if c := w.find(name); c != nil {
			return c, nil
		}
		return nil, fmt.Errorf("there is no city %s in the feed", name)
	}
	nation := func(code string) (*country, error) {
		if n := w.countries[code]; n != nil {
			return n, nil
		}
		return nil, fmt.Errorf("there is no country %s", code)
	}
	switch word {
	case "city":
		c, err := about(argument)
		return func(f *fact) bool { return f.topic == aCity && f.city == c }, err
	case "events":
		c, err := about(argument)
		return func(f *fact) bool { return f.topic == anEvent && f.city == c }, err
	case "nation":
		code, any := strings.CutSuffix(argument, " any")
		n, err := nation(code)
		return func(f *fact) bool { return f.topic == aNation && f.country == n && (any || f.lang == "en") }, err
	case "top":
		n, err := nation(argument)
		return func(f *fact) bool {
			return f.topic == aCity && f.country == n && slices.Contains(n.cities[:min(3, len(n.cities))], f.city)
		}, err
	case "cities":
		n, err := nation(argument)
		return func(f *fact) bool { return f.topic == aCity && f.country == n }, err
	case "place":
		return func(f *fact) bool {
			return f.topic == aCity && f.city.known && slices.Contains(f.city.areas, argument) || f.place == argument
		}, nil
	case "start":
		return func(f *fact) bool {
			return f.topic == aCity && strings.HasPrefix(plain.Replace(strings.ToLower(f.city.name)), argument)
		}, nil
	}
	threat, at, located := strings.Cut(part, "@")
	if categoryOf(threat, "en") == "" {
		return nil, errors.New("there is no such rule")
	}
	if !located {
		return func(f *fact) bool { return f.threat == threat }, nil
	}
	if n := w.countries[at]; n != nil {
		return func(f *fact) bool { return f.threat == threat && f.country == n }, nil
	}
	c, err := about(at)
	return func(f *fact) bool { return f.threat == threat && f.city == c }, err
}

// plain removes the marks from the letters of names, as far as rules need it.
var plain = strings.NewReplacer(
	"á", "a", "ã", "a", "ā", "a", "à", "a", "é", "e", "è", "e", "ê", "e", "í", "i", "ó", "o", "ō", "o", "ö", "o", "ú", "u", "ü", "u",
	"ł", "l", "ź", "z", "ñ", "n", "ç", "c", "i̇", "i",
)
