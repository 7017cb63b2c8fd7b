package relevance

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/relevancetest"
	"riskdex/report"
)

//go:embed queries.tsv
var queriesFile string

// judge reads queries.tsv and applies its rules to the documents.
func judge(t testing.TB, documents []document) []relevancetest.Query {
	t.Helper()
	var all []relevancetest.Query
	for i, line := range strings.Split(queriesFile, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			t.Fatalf("queries.tsv:%d: %d columns, want class, query and rules", i+1, len(columns))
		}
		spellings := strings.Split(columns[1], " / ")
		q := relevancetest.Query{Class: columns[0], Words: spellings[0], Others: spellings[1:], Grades: map[string]int{}}
		for rule := range strings.SplitSeq(columns[2], "; ") {
			grade := int(rule[0] - '0')
			fits, err := parseRule(strings.TrimSpace(rule[1:]))
			if err != nil || grade < 1 || grade > 3 {
				t.Fatalf("queries.tsv:%d: %q: %v", i+1, rule, err)
			}
			n := 0
			for _, d := range documents {
				if fits(d) {
					q.Grades[d.key] = max(q.Grades[d.key], grade)
					n++
				}
			}
			if n == 0 {
				t.Errorf("queries.tsv:%d: no document fits %q: the feed has changed", i+1, rule)
			}
		}
		all = append(all, q)
	}
	return all
}

// parseRule reads tests joined by " & ", such as: kind=advisories & title~strike.
func parseRule(rule string) (func(document) bool, error) {
	var tests []func(document) bool
	for part := range strings.SplitSeq(rule, " & ") {
		at := strings.IndexAny(part, "=~")
		if at < 0 {
			return nil, fmt.Errorf("%q has neither = nor ~", part)
		}
		name, value := part[:at+1], part[at+1:]
		pattern, err := regexp.Compile(value)
		if err != nil {
			return nil, err
		}
		switch name {
		case "city=":
			codes := strings.Split(value, ",")
			tests = append(tests, func(d document) bool { return d.kind == report.Cities && slices.Contains(codes, d.code) })
		case "kind=":
			tests = append(tests, func(d document) bool { return string(d.kind) == value })
		case "country=":
			tests = append(tests, func(d document) bool { return d.country == value })
		case "title~":
			tests = append(tests, func(d document) bool { return pattern.MatchString(d.title) })
		case "text~":
			tests = append(tests, func(d document) bool { return pattern.MatchString(d.text) })
		default:
			return nil, fmt.Errorf("there is no test %s", name)
		}
	}
	return func(d document) bool {
		for _, fits := range tests {
			if !fits(d) {
				return false
			}
		}
		return true
	}, nil
}

// everyCity asks for every city of the feed by code, airport and name. Codes
// and names that two cities share are left to queries.tsv.
func everyCity(t testing.TB, documents []document) []relevancetest.Query {
	t.Helper()
	table := cities(t)
	uses := map[string]int{}
	for _, c := range table {
		for _, word := range slices.Compact(slices.Sorted(slices.Values(slices.Concat([]string{c.code, c.name}, c.airports, c.aliases)))) {
			uses[strings.ToLower(word)]++
		}
	}
	var all []relevancetest.Query
	for _, c := range table {
		ask := func(class, words string) {
			fits, err := parseRule("city=" + c.code)
			if err != nil {
				t.Fatal(err)
			}
			q := relevancetest.Query{Class: class, Words: words, Grades: map[string]int{}}
			for _, d := range documents {
				if fits(d) {
					q.Grades[d.key] = 3
				}
			}
			if len(q.Grades) != 1 {
				t.Fatalf("%d documents for %s", len(q.Grades), c.name)
			}
			all = append(all, q)
		}
		ask("every code", c.code)
		for _, airport := range c.airports {
			if airport != c.code && uses[strings.ToLower(airport)] == 1 {
				ask("every airport", strings.ToLower(airport))
			}
		}
		if uses[strings.ToLower(c.name)] == 1 {
			ask("every name", c.name)
		}
		for _, alias := range c.aliases {
			if uses[strings.ToLower(alias)] == 1 {
				ask("every other name", strings.ToLower(alias))
			}
		}
	}
	return all
}
