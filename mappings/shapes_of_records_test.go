package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"riskdex/report"
)

// renamed returns changes with other names of members and other ids.
func renamed(changes []report.Change, id string, names ...string) (all []report.Change) {
	for _, c := range changes {
		c.ID = report.ID(id) + c.ID
		c.Body = []byte(strings.NewReplacer(names...).Replace(string(c.Body)))
		all = append(all, c)
	}
	return all
}

// isRead fails the test unless the country and the level of the first of unnamed are read.
func isRead(t *testing.T, s *Set, c report.Change) {
	t.Helper()
	if got, _ := field(t, s, "country", string(c.Body)); got != `"GB"` {
		t.Errorf("the country of %s is %s", c.Body, got)
	}
	if got, _ := field(t, s, "risk_level", string(c.Body)); got != "1" {
		t.Errorf("the level of %s is %s", c.Body, got)
	}
}

// TestTwoPublishersOfOneKind: each is read in its own way, whether they come together or one after the other.
func TestTwoPublishersOfOneKind(t *testing.T) {
	one := unnamed(20)
	two := renamed(unnamed(20), "b", "zzB", "qb", "zzC", "qc", "zzD", "qd", "zzE", "qe", "}", `,"d":{"rev":4}}`)
	for name, deliveries := range map[string][][]report.Change{
		"together": {slices.Concat(one, two)}, "mixed": {slices.Concat(two[:3], one, two[3:])}, "one after the other": {one, two},
	} {
		t.Run(name, func(t *testing.T) {
			s, told := builtinSet(t), ""
			for _, changes := range deliveries {
				if told, _ = s.See(report.Cities, changes, true); told == "" {
					t.Fatal("nothing is told")
				}
			}
			again := builtinSet(t)
			if err := again.Use(report.Cities, told); err != nil {
				t.Fatal(err)
			}
			if again.Hash(report.Cities) != s.Hash(report.Cities) {
				t.Error("another process has another hash")
			}
			for _, s := range []*Set{s, again} {
				isRead(t, s, one[0])
				isRead(t, s, two[0])
			}
			if told, _ := s.See(report.Cities, slices.Concat(one, two), true); told != "" {
				t.Errorf("told again: %s", told)
			}
		})
	}
}

// TestShapeThatChanges: records in which a member has another name are read by it once there are some, and
// those before as before.
func TestShapeThatChanges(t *testing.T) {
	s := builtinSet(t)
	before := unnamed(mature)
	if told, _ := s.See(report.Cities, before, true); told == "" {
		t.Fatal("nothing is told")
	}
	after := renamed(unnamed(10), "b", "zzE", "neu")
	if told, _ := s.See(report.Cities, after[:fewestRecords-1], true); told != "" {
		t.Errorf("too few tell %s", told)
	}
	if told, first := s.See(report.Cities, after[fewestRecords-1:], true); told == "" || first {
		t.Fatalf("told %q, first %v", told, first)
	}
	isRead(t, s, before[0])
	isRead(t, s, after[0])
}

// TestDamagedRecordsAreNoShape: what lacks a value is read as the others are.
func TestDamagedRecordsAreNoShape(t *testing.T) {
	s := builtinSet(t)
	if told, _ := s.See(report.Cities, unnamed(mature), true); told == "" {
		t.Fatal("nothing is told")
	}
	for _, with := range []string{"", `,"zzE":null`} {
		damaged := renamed(unnamed(20), "b", `,"zzE":"green"`, with, `,"zzE":"yellow"`, with, `,"zzE":"orange"`, with, `,"zzE":"red"`, with)
		if told, _ := s.See(report.Cities, damaged, true); told != "" {
			t.Errorf("told by records with %q in place of the level: %s", with, told)
		}
		if n := len(s.shapes(report.Cities).all); n != 1 {
			t.Errorf("with records with %q in place of the level, there are %d shapes", with, n)
		}
		if got, _ := field(t, s, "country", string(damaged[0].Body)); got != `"GB"` {
			t.Errorf("the country is %s", got)
		}
	}
}

// TestNamesThatAreData: records that have objects with codes for names are of one shape.
func TestNamesThatAreData(t *testing.T) {
	s := builtinSet(t)
	var all []report.Change
	for i, c := range unnamed(40) {
		var of []string
		for j := range 30 {
			of = append(of, fmt.Sprintf(`"k%c%d":{"a":1}`, 'a'+rune(i), j))
		}
		c.Body = []byte(strings.Replace(string(c.Body), "}", `,"of":{`+strings.Join(of, ",")+`}}`, 1))
		all = append(all, c)
	}
	if told, _ := s.See(report.Cities, all, true); told == "" {
		t.Fatal("nothing is told")
	}
	if n := len(s.shapes(report.Cities).all); n != 1 {
		t.Errorf("there are %d shapes", n)
	}
}
