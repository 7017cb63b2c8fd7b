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
		`"London","GB",51.51,-0.13`, `"Paris","FR",48.85,2.35`, `"Lagos","NG",6.45,3.39`, `"Tokyo","JP",35.69,139.69`, `"Lima","PE",-12.04,-77.03`,
		`"Nairobi","KE",-1.28,36.82`, `"Oslo","NO",59.91,10.75`, `"Baghdad","IQ",33.34,44.40`, `"Bogotá","CO",4.61,-74.08`, `"Berlin","DE",52.52,13.41`,
		`"Madrid","ES",40.42,-3.70`, `"Rome","IT",41.89,12.51`, `"Vienna","AT",48.21,16.37`, `"Warsaw","PL",52.23,21.01`, `"Athens","GR",37.98,23.72`,
		`"Cairo","EG",30.06,31.25`, `"Tunis","TN",36.82,10.17`, `"Accra","GH",5.56,-0.20`, `"Dakar","SN",14.69,-17.44`, `"Kampala","UG",0.32,32.58`,
		`"Luanda","AO",-8.84,13.23`, `"Harare","ZW",-17.83,31.05`, `"Mumbai","IN",19.07,72.88`, `"Dhaka","BD",23.71,90.41`, `"Karachi","PK",24.86,67.01`,
		`"Kabul","AF",34.53,69.17`, `"Tehran","IR",35.69,51.42`, `"Riyadh","SA",24.69,46.72`, `"Doha","QA",25.29,51.53`, `"Ankara","TR",39.92,32.85`,
		`"Kyiv","UA",50.45,30.52`, `"Minsk","BY",53.90,27.57`, `"Sofia","BG",42.70,23.32`, `"Bucharest","RO",44.43,26.11`, `"Budapest","HU",47.50,19.04`,
		`"Prague","CZ",50.09,14.42`, `"Stockholm","SE",59.33,18.06`, `"Copenhagen","DK",55.68,12.57`, `"Helsinki","FI",60.17,24.94`, `"Dublin","IE",53.33,-6.25`,
		`"Lisbon","PT",38.72,-9.13`, `"Brussels","BE",50.85,4.35`, `"Amsterdam","NL",52.37,4.89`, `"Bangkok","TH",13.75,100.50`, `"Hanoi","VN",21.02,105.84`,
		`"Manila","PH",14.60,120.98`, `"Jakarta","ID",-6.21,106.85`, `"Seoul","KR",37.57,126.98`, `"Beijing","CN",39.91,116.40`, `"Taipei","TW",25.05,121.53`,
		`"Sydney","AU",-33.87,151.21`, `"Auckland","NZ",-36.85,174.76`, `"Toronto","CA",43.70,-79.42`, `"Chicago","US",41.85,-87.65`, `"Havana","CU",23.13,-82.38`,
		`"Caracas","VE",10.49,-66.88`, `"Quito","EC",-0.23,-78.52`, `"Montevideo","UY",-34.90,-56.19`, `"Santiago","CL",-33.46,-70.65`,
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

// TestTitles: the heading before a name, in English where the record has it, and each other name once.
func TestTitles(t *testing.T) {
	var all []report.Change
	names := []string{"ロンドン", "パリ", "ラゴス", "東京", "リマ", "ナイロビ", "オスロ", "バグダッド", "ボゴタ", "ベルリン", "マドリード", "ローマ"}
	for i, c := range unnamed(len(names)) {
		of := strings.Split(string(c.Body), `"`)
		english, other := "null", "なし"
		if i%3 == 0 {
			english, other = `"`+of[3]+`: City Profile"`, of[3]
		}
		all = append(all, change(report.Cities, fmt.Sprint("q", i), fmt.Sprintf(
			`{"hyodai":"%s 都市別安全情報","hyodai_e":%s,"mei":%q,"mei_rm":%q,"betsumei":%q,"cd":%q}`, names[i], english, names[i], of[3], other, of[7])))
	}
	s := builtinSet(t)
	s.See(report.Cities, all, true)
	for i, want := range map[int]string{0: `"London: City Profile"`, 1: `"パリ 都市別安全情報"`} {
		if got, _ := field(t, s, "title", string(all[i].Body)); got != want {
			t.Errorf("the title of %s is %s, want %s", all[i].Body, got, want)
		}
	}
	if got, _ := field(t, s, "names", string(all[1].Body)); strings.Contains(got, "なし") || !strings.Contains(got, "Paris") {
		t.Errorf("the names of %s are %s", all[1].Body, got)
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
	if p := s.shapes(report.Cities).all[0].used.Fields.Country[0].text; p != "/nowhere" {
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

// TestCompare: a field that fewer records have is losing, whichever it is, but for threats; what only has other
// values fills nothing.
func TestCompare(t *testing.T) {
	before := []map[string]string{{"title": "a", "places": "x", "threats": "y"}, {"title": "b"}}
	after := []map[string]string{{"title": "c"}, {"title": "b"}}
	better, fills, losing := compare(before, after)
	if !better || fills || losing != 1<<placesField {
		t.Errorf("better %v, fills %v, losing %b", better, fills, losing)
	}
	after[1]["country"] = "GB"
	if _, fills, _ = compare(before, after); !fills {
		t.Error("a new country fills nothing")
	}
}

// TestNamesAreNotReadBesideValues: where values have told which column is the publication, no other one takes its
// place in a record that lacks it.
func TestNamesAreNotReadBesideValues(t *testing.T) {
	s := builtinSet(t)
	all := unnamed(20)
	for i, c := range all {
		published := ""
		if i > 1 {
			published = fmt.Sprintf(`"fields":{"publishDate":"2026-03-%02dT12:00:00Z"},`, i+1)
		}
		all[i].Body = fmt.Appendf(nil, `{%s"sys":{"createdAt":"2026-02-%02dT08:00:00Z"},%s`, published, i+1, c.Body[1:])
	}
	if told, _ := s.See(report.Cities, all, true); told == "" {
		t.Fatal("nothing is told")
	}
	for i, want := range map[int]string{0: "", 7: `"2026-03-08T12:00:00Z"`} {
		if got, _ := fieldOf(t, s, report.Cities, "published_at", string(all[i].Body)); got != want {
			t.Errorf("record %d was published %s, want %q", i, got, want)
		}
	}
	unseen := strings.Replace(string(all[7].Body), "{", `{"misAJour":"2026-05-01",`, 1)
	if got, _ := fieldOf(t, s, report.Cities, "updated_at", unseen); got != "" {
		t.Errorf("by a name that no column had, a record was updated %s", got)
	}
}
