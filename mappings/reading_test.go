package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"riskdex/report"
)

// unnamed returns changes of cities in a shape that no name of a field explains.
func unnamed(n int) []report.Change {
	cities := []string{
		`"London","GB",51.51,-0.12`, `"Paris","FR",48.86,2.34`, `"Lagos","NG",6.46,3.39`, `"Tokyo","JP",35.68,139.69`, `"Lima","PE",-12.05,-77.04`,
		`"Nairobi","KE",-1.29,36.82`, `"Oslo","NO",59.92,10.74`, `"Baghdad","IQ",33.34,44.4`, `"Bogotá","CO",4.61,-74.08`, `"Berlin","DE",52.52,13.41`,
	}
	levels := []string{"green", "yellow", "orange", "red"}
	var all []report.Change
	for i := range n {
		of := strings.Split(cities[i%len(cities)], ",")
		all = append(all, change(report.Cities, fmt.Sprint("q", i), fmt.Sprintf(
			`{"zzA":%s,"zzB":%s,"zzC":%s,"zzD":%s,"zzE":%q}`, of[0], of[1], of[2], of[3], levels[i%len(levels)])))
	}
	return all
}

func TestSeeTellsTheSameInAnyOrder(t *testing.T) {
	all := unnamed(10)
	told, first := builtinSet(t).See(report.Cities, all, true)
	if !first {
		t.Error("documents were made before")
	}
	if !strings.Contains(told, `"country":[{"at":"/zzB"`) || !strings.Contains(told, `"lat":"/zzC"`) || !strings.Contains(told, `"risk_level":["/zzE"]`) {
		t.Fatalf("told %s", told)
	}
	slices.Reverse(all)
	if again, _ := builtinSet(t).See(report.Cities, all, true); again != told {
		t.Errorf("in another order: %s\nbefore: %s", again, told)
	}
	s := builtinSet(t)
	hash := s.Hash(report.Cities)
	if err := s.Use(report.Cities, told); err != nil {
		t.Fatal(err)
	}
	if s.Hash(report.Cities) == hash {
		t.Error("the hash is the same")
	}
	if got, _ := field(t, s, "country", string(all[9].Body)); got != `"GB"` {
		t.Errorf("the country is %s", got)
	}
	if again, _ := s.See(report.Cities, all, true); again != "" {
		t.Errorf("told again: %s", again)
	}
}

func TestSeeWaits(t *testing.T) {
	s := builtinSet(t)
	if told, _ := s.See(report.Cities, unnamed(fewestRecords-1), true); told != "" {
		t.Errorf("too few tell %s", told)
	}
	if told, _ := s.See(report.Cities, unnamed(fewestRecords), false); told != "" {
		t.Errorf("told, although that was not asked for: %s", told)
	}
	if told, first := s.See(report.Cities, nil, true); told == "" || first {
		t.Errorf("of what came before is told %q, as the first %v", told, first)
	}
}

// TestFilesWin: what an operator's file says of a field stays.
func TestFilesWin(t *testing.T) {
	file := strings.Replace(string(must(ReadFile("cities.json"))), `"country": [`, `"country": ["/nowhere", `, 1)
	s, err := LoadWith("cities.json", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	all := unnamed(20)
	if told, _ := s.See(report.Cities, all, true); told == "" {
		t.Fatal("nothing is told")
	}
	if got, _ := field(t, s, "risk_level", string(all[3].Body)); got != "5" {
		t.Errorf("the level is %s", got)
	}
	if p := s.mapping(report.Cities).Fields.Country[0].at.text; p != "/nowhere" {
		t.Errorf("the country is read from %s", p)
	}
	off := strings.Replace(file, `"about"`, `"read_names": false, "about"`, 1)
	if s, err = LoadWith("cities.json", []byte(off)); err != nil {
		t.Fatal(err)
	}
	if told, _ := s.See(report.Cities, all, true); told != "" {
		t.Errorf("told, although that is off: %s", told)
	}
}

// TestUsualFeedsStayAsTheyAre: what names tell already is no reason to build an index anew.
func TestUsualFeedsStayAsTheyAre(t *testing.T) {
	var all []report.Change
	for i, c := range unnamed(20) {
		body := strings.NewReplacer("zzA", "title", "zzB", "country", "zzC", "lat", "zzD", "lon", "zzE", "remark",
			"green", "a", "yellow", "b", "orange", "c", "red", "d").Replace(string(c.Body))
		all = append(all, change(report.Cities, fmt.Sprint(i), body))
	}
	s := builtinSet(t)
	if told, _ := s.See(report.Cities, all, true); told != "" {
		t.Errorf("told %s", told)
	}
}
