package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

func TestLearn(t *testing.T) {
	s := builtinSet(t)
	records := [][]byte{
		[]byte(`{"CityName":{"en":"London","fr":"Londres"},"pays":"GB","riskRating":7,"GeoLat":51.5,"GeoLng":-0.1,"hospitals":[{"name":"Guy","lat":51.5,"lng":0}],"LastModifiedUtc":"yesterday"}`),
		[]byte(`{"CityName":{"en":"Paris"},"pays":"FR","riskRating":0,"GeoLat":48.8,"GeoLng":2.3,"attributes":[{"label":"City","value":"x"},{"label":"y","value":"z"}]}`),
	}
	l, err := s.Learn(report.Cities, records)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range l.Fields {
		got = append(got, fmt.Sprintf("%s %s %d/%d misfits %d file %v", f.Field, f.Pointer, f.Records, f.Distinct, f.Misfits, f.InFile))
	}
	want := []string{
		"title /CityName 2/2 misfits 0 file true", "names /CityName 1/1 misfits 0 file true", "country /pays 2/2 misfits 0 file true",
		"risk_level /riskRating 0/0 misfits 2 file false", "places.name /hospitals/*/name 1/1 misfits 0 file true",
		"places.location /hospitals/* 1/1 misfits 0 file true", "location /GeoLat 2/2 misfits 0 file false", "updated_at /LastModifiedUtc 0/0 misfits 1 file false",
	}
	if !slices.Equal(got, want) || l.Levels.Scale != "0-10" {
		t.Errorf("learnt %s\nwant %s\nlevels %+v", strings.Join(got, "\n"), strings.Join(want, "\n"), l.Levels)
	}
	file, err := s.File(l)
	if err != nil {
		t.Fatal(err)
	}
	taught, err := LoadWith("cities.json", file)
	if err != nil {
		t.Fatalf("the proposal has mistakes: %v\n%s", err, file)
	}
	for name, want := range map[string]string{"title": `"London"`, "names": `["Londres"]`, "country": `"GB"`, "risk_level": `4`, "location": `{"lat":51.5,"lon":-0.1}`, "places": `[{"name":"Guy","location":{"lat":51.5,"lon":0}}]`} {
		if got, _ := field(t, taught, name, string(records[0])); got != want {
			t.Errorf("with the proposal %s is %s, want %s", name, got, want)
		}
	}
	if !taught.kinds[report.Cities].Fields.Country[0].at.equal("/pays") {
		t.Errorf("the proposal has no pointer to the country:\n%s", file)
	}
}

func (p pattern) equal(text jsontext.Pointer) bool { return p.text == text }

// FuzzLearn: whatever is learnt, the proposal is a mapping file without mistakes.
func FuzzLearn(f *testing.F) {
	for _, c := range golden(f) {
		f.Add(c.Body)
	}
	f.Add([]byte(`{"a/b~*":{"lat":1,"lng":2},"name":{"en":"x","de":"y"},"*":[{"name":"x","lat":1,"lon":2}],"riskLevel":"9 of 9"}`))
	s := builtinSet(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		l, err := s.Learn(report.Cities, [][]byte{body})
		if err != nil {
			return
		}
		file, err := s.File(l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseKind(file); err != nil { // not LoadWith, which reads all other files too
			t.Fatalf("%v\n%s", err, file)
		}
	})
}

func TestExamine(t *testing.T) {
	s := builtinSet(t)
	file := strings.Replace(string(must(ReadFile("cities.json"))), `"/headline"`, `"/headline", "/kopf", "/zeilen/1"`, 1)
	taught, err := LoadWith("cities.json", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	e, err := taught.Examine(report.Cities, []byte(`{"zeilen":["first","second"],"population":9,"coordinates":[12.5,41.9],"GeoLat":1,"GeoLng":2,"url":"https://example.org","note":"x y"}`))
	if err != nil {
		t.Fatal(err)
	}
	var unread []string
	for _, u := range e.Unread {
		unread = append(unread, string(u.Pointer))
	}
	if !slices.Equal(unread, []string{"/population", "/coordinates/0", "/coordinates/1", "/url"}) {
		t.Errorf("unread: %v", unread)
	}
	if idle := taught.OnlyHere(report.Cities, e.Idle, s); !slices.Equal(idle, []Idle{{"title", "/kopf"}}) {
		t.Errorf("idle: %v", idle)
	}
	if !slices.ContainsFunc(e.Fields, func(f FieldSource) bool { return f.Field == "title" && f.Pointer == "/zeilen/1" }) {
		t.Errorf("an index in a pointer leads nowhere: %+v", e.Fields)
	}
}

// TestIdleParts: a pattern that starts at a place or at a threat is idle if there are any and it
// leads nowhere from all of them.
func TestIdleParts(t *testing.T) {
	s := builtinSet(t)
	file := string(must(ReadFile("cities.json")))
	for _, change := range [][2]string{
		{`"/threats/*", "/threats"`, `"/gefahren/*", "/threats/*", "/threats"`}, {`"level": ["/rating"`, `"level": ["/stufe", "/rating"`},
		{`"name": ["/name", "/title"`, `"name": ["/bezeichner", "/name", "/title"`},
	} {
		if !strings.Contains(file, change[0]) {
			t.Fatalf("cities.json has no %s", change[0])
		}
		file = strings.Replace(file, change[0], change[1], 1)
	}
	taught, err := LoadWith("cities.json", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for record, want := range map[string][]Idle{
		`{"threats":[{"name":"Crime","rating":3}],"places":[{"name":"x"}]}`:                    {{"places.name", "/bezeichner"}, {"threats.level", "/stufe"}, {"threats", "/gefahren/*"}},
		`{"gefahren":[{"name":"Crime"},{"stufe":3}],"places":[{"name":"x"},{"bezeichner":1}]}`: nil,
		`{"gefahren":[]}`: {{"threats", "/gefahren/*"}},
	} {
		e, err := taught.Examine(report.Cities, []byte(record))
		if err != nil {
			t.Fatal(err)
		}
		if idle := taught.OnlyHere(report.Cities, e.Idle, s); !slices.Equal(idle, want) {
			t.Errorf("%s: idle are %v, want %v", record, idle, want)
		}
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// TestNamesAreNotRead: with "read_names": false, names are not read by their words.
func TestNamesAreNotRead(t *testing.T) {
	file := strings.Replace(string(must(ReadFile("cities.json"))), `"risk_levels"`, `"read_names": false, "risk_levels"`, 1)
	s, err := LoadWith("cities.json", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := field(t, s, "title", `{"Stadtname":"Bonn"}`); got != "" {
		t.Errorf("the title is %s", got)
	}
	if got, _ := field(t, builtinSet(t), "title", `{"Stadtname":"Bonn"}`); got != `"Bonn"` {
		t.Errorf("the title is %s", got)
	}
}

// TestProseIsNoTitle: a paragraph under a name such as event or advice is not a title.
func TestProseIsNoTitle(t *testing.T) {
	s := builtinSet(t)
	for body, want := range map[string]string{
		`{"event":"Rail strike"}`: `"title":"Rail strike"`, `{"event":"` + strings.Repeat("Long words. ", 30) + `"}`: ``, `{"advice":"Leave earlier"}`: ``,
	} {
		doc, _, err := s.AppendDocument(nil, change(report.Advisories, "1", body))
		if err != nil || want == "" && strings.Contains(string(doc), `"title"`) || !strings.Contains(string(doc), want) {
			t.Errorf("the document of %s is %s, %v", body, doc, err)
		}
	}
}

// TestLearnLabels: a scale is learnt from labels only if there is one for each of five levels.
func TestLearnLabels(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct {
		labels, ladder string
		assumed        bool
		low            string // the level of low by the proposal
	}{
		{"High,Low,Minimal,Extreme,Moderate", "minimal,low,moderate,high,extreme", false, "2"},
		{"Insignificant,Low Risk,Medium,High,Extreme", "insignificant,low,medium,high,extreme", false, "2"},
		{"Very low,Low,Medium,High,Very high", "very low,low,medium,high,very high", false, "2"},
		{"Low,Guarded,Elevated,High,Severe", "low,guarded,elevated,high,severe", false, "1"},
		{"Low,Moderate,Medium,High,Extreme", "", false, "1"},
		{"Minimal,Low,Moderate,High", "", true, "1"},
		{"Minimal,Low,Moderate,High,Extreme,Dire", "", true, "1"},
		{"Extrême,Faible,Élevé,Modéré,Très élevé", "faible,modere,eleve,tres eleve,extreme", false, "1"},
		{"Bajo,Moderado,Medio,Alto,Extremo", "", false, "1"},
		{"Niedrig,Mittel,Hoch", "", true, "1"},
		{"Low,Medium,High", "", true, "1"},
		{"Extreme", "", false, "1"},
	} {
		var records [][]byte
		for label := range strings.SplitSeq(c.labels, ",") {
			records = append(records, fmt.Appendf(nil, `{"risk_level":%q}`, label))
		}
		l, err := s.Learn(report.Cities, records)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(l.Levels.Ladder, ","); got != c.ladder || l.Levels.Assumed != c.assumed {
			t.Errorf("of %s the scale is %q, assumed %v, want %q, %v", c.labels, got, l.Levels.Assumed, c.ladder, c.assumed)
		}
		file, err := s.File(l)
		if err != nil {
			t.Fatal(err)
		}
		taught, err := LoadWith("cities.json", file)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := field(t, taught, "risk_level", `{"risk_level":"Low"}`); got != c.low {
			t.Errorf("as learnt from %s, low is %s, want %s", c.labels, got, c.low)
		}
	}
}

func TestRiskScale(t *testing.T) {
	builtin := string(must(ReadFile("cities.json")))
	for _, c := range []struct{ scale, level, want string }{
		{`"1-4"`, `4`, `5`}, {`"1-4"`, `3`, `4`}, {`"1-4"`, `2`, `2`}, {`"1-4"`, `5`, ``}, {`"0-10"`, `0`, `1`}, {`"4-1"`, `1`, `5`}, {`"1-4"`, `"Level 4: "`, `5`},
		{`["green","amber","red"]`, `"Red"`, `5`}, {`["green","amber","red"]`, `"amber"`, `3`}, {`["green","amber","red"]`, `"blue"`, ``},
		{``, `"3 of 4"`, `4`}, {``, `"3/5"`, `3`}, {``, `"Level 3"`, ``}, {``, `"3 - High"`, ``}, {``, `"4 - High"`, `4`}, {``, `"HIGH RISK"`, `4`}, {``, `"7/5"`, ``},
		{``, `"Risiko: mäßig"`, `2`}, {``, `"niveau élevé"`, `4`}, {``, `"1-5"`, ``}, {``, `"not low"`, ``},
	} {
		file := builtin
		if c.scale != "" {
			file = strings.Replace(file, `"risk_levels"`, `"risk_scale": `+c.scale+`, "risk_levels"`, 1)
		}
		s, err := LoadWith("cities.json", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		if got, unfit := field(t, s, "risk_level", `{"risk_level":`+c.level+`}`); got != c.want || unfit != (c.want == "") {
			t.Errorf("of the scale %s, %s is %q, unfit %v, want %q", c.scale, c.level, got, unfit, c.want)
		}
	}
	for _, wrong := range []string{`"1"`, `4`, `["one"]`, `"1-1"`, `"1-9999"`, `{}`} {
		file := strings.Replace(builtin, `"risk_levels"`, `"risk_scale": `+wrong+`, "risk_levels"`, 1)
		if _, err := LoadWith("cities.json", []byte(file)); err == nil || !strings.Contains(err.Error(), "risk_scale") {
			t.Errorf("the scale %s: %v", wrong, err)
		}
	}
}

func TestDatesOfPeople(t *testing.T) {
	s := builtinSet(t)
	for text, want := range map[string]string{
		"30.09.2026": `"2026-09-30T00:00:00Z"`, "30 July 2026": `"2026-07-30T00:00:00Z"`, "1er août 2026": `"2026-08-01T00:00:00Z"`, "30. Juli 2026": `"2026-07-30T00:00:00Z"`,
		"30 de julio de 2026": `"2026-07-30T00:00:00Z"`, "3 März 2026": `"2026-03-03T00:00:00Z"`, "31 juin 2026": "", "30 Brumaire 2026": "", "07 08 2026": "", "Jul 30, 2026": `"2026-07-30T00:00:00Z"`, "30/07/2026": `"2026-07-30T00:00:00Z"`,
		"07/30/2026": `"2026-07-30T00:00:00Z"`, "07/08/2026": ``, "08/08/2026": `"2026-08-08T00:00:00Z"`, "Thu, 30 Jul 2026 10:00:00 GMT": `"2026-07-30T10:00:00Z"`,
		"Thu, 30 Jul 2026 10:00:00 EST": ``, "Thu, 30 Jul 2026 10:00:00 +0200": `"2026-07-30T08:00:00Z"`, "28.08.2026 08:30": `"2026-08-28T08:30:00Z"`, "31.02.2026": ``,
	} {
		if got, unfit := field(t, s, "starts_at", `{"start_date":"`+text+`"}`); got != want || unfit != (want == "") {
			t.Errorf("%s is %s, unfit %v, want %s", text, got, unfit, want)
		}
	}
}

// TestOrderOfTwoNumbers: a number beyond 90, a name or the country tells which of two
// numbers is the latitude; nothing else does.
func TestOrderOfTwoNumbers(t *testing.T) {
	s := builtinSet(t)
	for body, want := range map[string]string{
		`{"country":"NO","geo":[59.9,10.7]}`:                              `{"lat":59.9,"lon":10.7}`,
		`{"country":"NO","geo":[10.7,59.9]}`:                              `{"lat":59.9,"lon":10.7}`,
		`{"countries":["NO","SE"],"geo":["10.7","59.9",12]}`:              `{"lat":59.9,"lon":10.7}`,
		`{"geo":[139.7,35.7]}`:                                            `{"lat":35.7,"lon":139.7}`,
		`{"geo":[35.7,139.7]}`:                                            `{"lat":35.7,"lon":139.7}`,
		`{"latLng":[1.5,2.5]}`:                                            `{"lat":1.5,"lon":2.5}`,
		`{"lonlat":[1.5,2.5]}`:                                            `{"lat":2.5,"lon":1.5}`,
		`{"country":"TR","geo":[38.5,37.5]}`:                              ``,
		`{"country":"NO","geo":[1,2]}`:                                    ``,
		`{"geo":[1,2]}`:                                                   ``,
		`{"geo":[100,200]}`:                                               ``,
		`{"geo":[1,2,3,4]}`:                                               ``,
		`{"geo":{"coordinates":[59.9,10.7]},"country":"NO"}`:              `{"lat":59.9,"lon":10.7}`,
		`{"geo":{"type":"Point","coordinates":[1.5,2.5]},"country":"NO"}`: `{"lat":2.5,"lon":1.5}`,
	} {
		if got, unfit := field(t, s, "location", body); got != want || unfit != (want == "") {
			t.Errorf("the location of %s is %s, unfit %v, want %s", body, got, unfit, want)
		}
	}
	boxes := parseBoxes(boxesFile)
	if len(boxes) < 150 {
		t.Errorf("%d countries have a box", len(boxes))
	}
	for code, b := range boxes {
		if b.south >= b.north || b.west >= b.east || !(point{b.south + 1, b.west + 1}).inside() {
			t.Errorf("the box of %s is %v", code, b)
		}
	}
}

func (p point) inside() bool { return p.verdict() == fits }
