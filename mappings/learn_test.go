package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"riskdex/report"
)

func TestLearn(t *testing.T) {
	s := builtinSet(t)
	records := [][]byte{
		[]byte(`{"CityName":{"en":"London","fr":"Londres"},"pays":"GB","riskRating":7,"yy":51.5,"zz":-0.1,"hospitals":[{"name":"Guy","lat":51.5,"lng":0.1}],"LastModifiedUtc":"yesterday"}`),
		[]byte(`{"CityName":{"en":"Paris"},"pays":"FR","riskRating":0,"yy":48.8,"zz":2.3,"LastModifiedUtc":"today"}`),
		[]byte(`{"CityName":{"en":"Lagos"},"pays":"NG","riskRating":9,"yy":6.5,"zz":3.4,"LastModifiedUtc":"today"}`),
		[]byte(`{"CityName":{"en":"Tokyo"},"pays":"JP","riskRating":3,"yy":35.7,"zz":139.7,"LastModifiedUtc":"today"}`),
		[]byte(`{"CityName":{"en":"Lima"},"pays":"PE","riskRating":5,"yy":-12.1,"zz":-77.1,"LastModifiedUtc":"today"}`),
	}
	l, err := s.Learn(report.Cities, records)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range l.Fields {
		got = append(got, fmt.Sprintf("%s %s %d/%d misfits %d by name %v", f.Field, f.Pointer, f.Records, f.Distinct, f.Misfits, f.ByName))
	}
	want := []string{
		"title /CityName 5/5 misfits 0 by name false", "country /pays 5/5 misfits 0 by name false",
		"risk_level /riskRating 5/5 misfits 0 by name false", "places.name /hospitals/*/name 1/1 misfits 0 by name false",
		"places.location /hospitals/*/lat 1/1 misfits 0 by name false", "location /yy 5/5 misfits 0 by name false",
		"updated_at /LastModifiedUtc 0/0 misfits 5 by name false",
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("not learnt: %s", line)
		}
	}
	if t.Failed() {
		t.Logf("learnt\n%s", strings.Join(got, "\n"))
	}
	taught, err := LoadWith("cities.json", l.File)
	if err != nil {
		t.Fatalf("the proposal has mistakes: %v\n%s", err, l.File)
	}
	for name, want := range map[string]string{"title": `"London"`, "names": `["Londres"]`, "country": `"GB"`, "risk_level": `4`, "location": `{"lat":51.5,"lon":-0.1}`, "places": `[{"name":"Guy","location":{"lat":51.5,"lon":0.1}}]`} {
		if got, _ := field(t, taught, name, string(records[0])); got != want {
			t.Errorf("with the proposal %s is %s, want %s", name, got, want)
		}
	}
}

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
		if _, err := parseKind(l.File); err != nil { // not LoadWith, which reads all other files too
			t.Fatalf("%v\n%s", err, l.File)
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
		"Thu, 30 Jul 2026 10:00:00 EST": `"2026-07-30T15:00:00Z"`, "Thu, 30 Jul 2026 10:00:00 IST": ``, "Thu, 30 Jul 2026 10:00:00 +0200": `"2026-07-30T08:00:00Z"`, "28.08.2026 08:30": `"2026-08-28T08:30:00Z"`, "31.02.2026": ``,
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
