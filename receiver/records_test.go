package receiver

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"riskdex/report"
)

func splitterForTest(t testing.TB) *splitter {
	t.Helper()
	parser, err := newBodyParser(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	return parser[report.Cities]
}

func texts(records iter.Seq[record]) []string {
	var all []string
	for r := range records {
		all = append(all, string(r.raw))
	}
	return all
}

func TestListRecords(t *testing.T) {
	s := splitterForTest(t)
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"one record":              {`{"id":1}`, []string{`{"id":1}`}},
		"array":                   {`[{"id":1}, {"id":2}]`, []string{`{"id":1}`, `{"id":2}`}},
		"empty array":             {`[]`, nil},
		"empty envelope":          {`{"cities":[]}`, nil},
		"empty envelopes":         {`{"data":{"cities":[]},"meta":{"count":0}}`, nil},
		"an id and nothing":       {`{"id":1,"cities":[]}`, []string{`{"id":1,"cities":[]}`}},
		"something and nothing":   {`{"title":"x","items":[]}`, []string{`{"title":"x","items":[]}`}},
		"no list":                 {`{"cities":{}}`, []string{`{"cities":{}}`}},
		"plural envelope":         {`{"cities":[{"id":1},{"id":2}],"meta":{"id":9}}`, []string{`{"id":1}`, `{"id":2}`}},
		"singular envelope":       {`{"city":{"id":1},"meta":{}}`, []string{`{"id":1}`}},
		"unknown beside it":       {`{"generated":"today","cities":[{"id":1}]}`, []string{`{"id":1}`}},
		"JSON:API":                {`{"data":{"type":"city","id":"1","attributes":{"name":"x"}}}`, []string{`{"type":"city","id":"1","attributes":{"name":"x"}}`}},
		"JSON:API list":           {`{"data":[{"type":"city","id":"1","attributes":{}}],"links":{}}`, []string{`{"type":"city","id":"1","attributes":{}}`}},
		"envelope in envelope":    {`{"data":{"cities":[{"id":1}]},"meta":{}}`, []string{`{"id":1}`}},
		"array of envelopes":      {`[{"city":{"id":1}},{"city":{"id":2}}]`, []string{`{"id":1}`, `{"id":2}`}},
		"record with a city":      {`{"id":1,"city":{"id":2}}`, []string{`{"id":1,"city":{"id":2}}`}},
		"record with data":        {`{"id":1,"data":{"id":2}}`, []string{`{"id":1,"data":{"id":2}}`}},
		"no id anywhere":          {`{"name":"x","data":{"text":"y"}}`, []string{`{"name":"x","data":{"text":"y"}}`}},
		"other things in a list":  {`[1,"x",null,[{"id":1}]]`, []string{`1`, `"x"`, `null`, `[{"id":1}]`}},
		"the first lacks it":      {`{"cities":[{"name":"x"},{"id":1}]}`, []string{`{"name":"x"}`, `{"id":1}`}},
		"all of a list lack it":   {`{"cities":[{"name":"x"},{"name":"y"}]}`, []string{`{"name":"x"}`, `{"name":"y"}`}},
		"one of a list lacks it":  {`{"cities":[{"id":1},{"name":"x"}]}`, []string{`{"id":1}`, `{"name":"x"}`}},
		"half a surrogate pair":   {`[{"id":1,"t":"\ud800"},{"id":2}]`, []string{`{"id":1,"t":"\ud800"}`, `{"id":2}`}},
		"null before the records": {`{"data":{"city":null},"items":[{"id":1}]}`, []string{`{"id":1}`}},
		"a number is no code":     {`{"code":200,"message":"OK","cities":[{"id":130},{"id":131}]}`, []string{`{"id":130}`, `{"id":131}`}},
		"a code is an id":         {`{"code":"LON","cities":[{"id":130}]}`, []string{`{"code":"LON","cities":[{"id":130}]}`}},
		"a strange name":          {`{"fiches":[{"id":1},{"id":2}],"date":"x","lang":"fr"}`, []string{`{"id":1}`, `{"id":2}`}},
		"a name of reports":       {`{"ReportList":[{"cityReportId":1},{"cityReportId":2}],"Version":3}`, []string{`{"cityReportId":1}`, `{"cityReportId":2}`}},
		"what an answer has":      {`{"code":200,"status":"ok","TotalCount":2,"hasMore":false,"apiVersion":"1.0","exportDate":"x","next":null,"provider":{"name":"x"},"Reports":[{"id":1}]}`, []string{`{"id":1}`}},
		"a level beside it":       {`{"riskLevel":3,"tips":[{"id":1}]}`, []string{`{"riskLevel":3,"tips":[{"id":1}]}`}},
		"its key beside it":       {`{"pk":17,"embassies":[{"id":1}]}`, []string{`{"pk":17,"embassies":[{"id":1}]}`}},
		"a position beside it":    {`{"lat":3,"tips":[{"id":1}]}`, []string{`{"lat":3,"tips":[{"id":1}]}`}},
		"prose beside it":         {`{"zzText":"x","tips":[{"id":1}]}`, []string{`{"zzText":"x","tips":[{"id":1}]}`}},
		"details beside it":       {`{"details":{"title":"x"},"tips":[{"id":1}]}`, []string{`{"details":{"title":"x"},"tips":[{"id":1}]}`}},
		"strange names":           {`{"response":{"zz":[{"id":1}],"start":0}}`, []string{`{"response":{"zz":[{"id":1}],"start":0}}`}},
		"strange within strange":  {`{"response":{"zz":[{"id":1}],"status":0}}`, []string{`{"id":1}`}},
		"a strange single one":    {`{"fiche":{"id":1}}`, []string{`{"id":1}`}},
		"a feature by itself":     {`{"type":"Feature","properties":{"id":1}}`, []string{`{"type":"Feature","properties":{"id":1}}`}},
		"too deep":                {`{"aa":{"bb":{"cc":[{"id":1}]}}}`, []string{`{"aa":{"bb":{"cc":[{"id":1}]}}}`}},
		"GeoJSON":                 {`{"type":"FeatureCollection","name":"x","crs":{},"bbox":[1,2],"features":[{"id":1},{"id":2}]}`, []string{`{"id":1}`, `{"id":2}`}},
		"GeoJSON with an id":      {`{"type":"FeatureCollection","id":7,"features":[{"id":1}]}`, []string{`{"type":"FeatureCollection","id":7,"features":[{"id":1}]}`}},
		"a title beside it":       {`{"title":"x","fiches":[{"id":1}]}`, []string{`{"title":"x","fiches":[{"id":1}]}`}},
		"its own number beside":   {`{"meta":{"ref":"A-1"},"fiches":[{"id":1}]}`, []string{`{"meta":{"ref":"A-1"},"fiches":[{"id":1}]}`}},
		"its own code beside":     {`{"CITY_CODE":"LON","fiches":[{"id":1}]}`, []string{`{"CITY_CODE":"LON","fiches":[{"id":1}]}`}},
		"parts of a report":       {`{"sections":[{"id":1},{"id":2}]}`, []string{`{"sections":[{"id":1},{"id":2}]}`}},
		"areas of a city":         {`{"KeyAreas":[{"id":1}]}`, []string{`{"KeyAreas":[{"id":1}]}`}},
		"threats to a city":       {`{"threats":[{"id":1}]}`, []string{`{"threats":[{"id":1}]}`}},
		"airports of a city":      {`{"type":"city","airports":[{"code":"LHR"}]}`, []string{`{"type":"city","airports":[{"code":"LHR"}]}`}},
		"countries":               {`{"countries":[{"id":1}]}`, []string{`{"countries":[{"id":1}]}`}},
		"its author":              {`{"author":{"id":1}}`, []string{`{"author":{"id":1}}`}},
		"categories":              {`{"categories":[{"id":1}]}`, []string{`{"categories":[{"id":1}]}`}},
		"its versions":            {`{"versions":[{"id":1}],"revisions":[{"id":2}]}`, []string{`{"versions":[{"id":1}],"revisions":[{"id":2}]}`}},
		"its contents":            {`{"content":[{"id":1},{"id":2}]}`, []string{`{"content":[{"id":1},{"id":2}]}`}},
		"its translations":        {`{"translations":[{"id":1},{"id":2}]}`, []string{`{"translations":[{"id":1},{"id":2}]}`}},
		"in several languages":    {`{"zz":[{"id":1,"lang":"en"},{"id":2,"lang":"fr"}]}`, []string{`{"zz":[{"id":1,"lang":"en"},{"id":2,"lang":"fr"}]}`}},
		"several in a language":   {`{"zz":[{"id":1,"lang":"en"},{"id":2,"lang":"en"}]}`, []string{`{"id":1,"lang":"en"}`, `{"id":2,"lang":"en"}`}},
		"new and updated ones":    {`{"new":[{"id":1}],"updated":[{"id":2}]}`, []string{`{"new":[{"id":1}],"updated":[{"id":2}]}`}},
		"a new and an updated":    {`{"new":{"id":1},"updated":{"id":2}}`, []string{`{"new":{"id":1},"updated":{"id":2}}`}},
		"nothing updated":         {`{"new":[{"id":1}],"updated":[],"published":{"at":"x"}}`, []string{`{"id":1}`}},
		"a list of its source":    {`{"fiches":[{"id":1}],"provider":{"id":7,"name":"x"}}`, []string{`{"id":1}`}},
		"a map of a city":         {`{"type":"FeatureCollection","CITY_CODE":"LON","features":[{"id":1}]}`, []string{`{"type":"FeatureCollection","CITY_CODE":"LON","features":[{"id":1}]}`}},
		"two known lists":         {`{"cities":[{"id":1}],"items":[{"id":2}]}`, []string{`{"cities":[{"id":1}],"items":[{"id":2}]}`}},
		"one and a list":          {`{"city":{"id":1},"cities":[{"id":2}]}`, []string{`{"city":{"id":1},"cities":[{"id":2}]}`}},
		"known and updated":       {`{"cities":[{"id":1}],"updated":[{"id":2}]}`, []string{`{"cities":[{"id":1}],"updated":[{"id":2}]}`}},
		"another kind beside":     {`{"cities":[{"id":1}],"advisories":[{"id":2}]}`, []string{`{"cities":[{"id":1}],"advisories":[{"id":2}]}`}},
		"deleted ids beside":      {`{"cities":[{"id":1}],"deleted":["c1"]}`, []string{`{"cities":[{"id":1}],"deleted":["c1"]}`}},
		"two lists within":        {`{"data":{"cities":[{"id":1}],"items":[{"id":2}]}}`, []string{`{"cities":[{"id":1}],"items":[{"id":2}]}`}},
		"two lists and a count":   {`{"data":[{"id":1}],"results":[{"id":2}],"count":2}`, []string{`{"data":[{"id":1}],"results":[{"id":2}],"count":2}`}},
		"a list further down":     {`{"cities":[{"id":1}],"changes":{"gone":[{"id":2}]}}`, []string{`{"cities":[{"id":1}],"changes":{"gone":[{"id":2}]}}`}},
		"empty ones beside":       {`{"cities":[{"id":1}],"updated":[],"city":{}}`, []string{`{"id":1}`}},
		"two lists":               {`{"fiches":[{"id":1}],"zz":[{"id":2}]}`, []string{`{"fiches":[{"id":1}],"zz":[{"id":2}]}`}},
		"the same id twice":       {`{"fiches":[{"id":1,"a":1},{"id":1,"a":2}]}`, []string{`{"fiches":[{"id":1,"a":1},{"id":1,"a":2}]}`}},
		"the same record twice":   {`{"fiches":[{"id":1},{"id":1}]}`, []string{`{"id":1}`, `{"id":1}`}},
		"a strange list, no ids":  {`{"fiches":[{"name":"x"}]}`, []string{`{"name":"x"}`}},
		"white space is not kept": {"{\"cities\" : [ {\"id\":1} ,\n {\"id\":2} ] }", []string{`{"id":1}`, `{"id":2}`}},
	} {
		if got := texts(s.list([]byte(c.body))); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestOneRecord(t *testing.T) {
	s := splitterForTest(t)
	for name, c := range map[string]struct{ body, want string }{
		"record":                  {`{"name":"x"}`, `{"name":"x"}`},
		"envelope":                {`{"city":{"name":"x"},"meta":{"event":"updated"}}`, `{"name":"x"}`},
		"data":                    {`{"data":{"type":"city","attributes":{"name":"x"}}}`, `{"type":"city","attributes":{"name":"x"}}`},
		"list of one":             {`[{"name":"x"}]`, `{"name":"x"}`},
		"list of one in envelope": {`{"cities":[{"name":"x"}]}`, `{"name":"x"}`},
		"more than an envelope":   {`{"title":"t","data":{"text":"y"}}`, `{"title":"t","data":{"text":"y"}}`},
		"own id":                  {`{"id":1,"city":{"name":"x"}}`, `{"id":1,"city":{"name":"x"}}`},
		"city's name":             {`{"city":"London"}`, `{"city":"London"}`},
		"several":                 {`[{"a":1},{"b":2}]`, `[{"a":1},{"b":2}]`},
		"text":                    {`"all is calm"`, `"all is calm"`},
		"nothing":                 {`[]`, `[]`},
		"nothing in envelopes":    {`{"data":{"cities":[]},"meta":{}}`, `[]`},
		"several, and nothing":    {`[{},{"a":1},{"b":2}]`, `[{},{"a":1},{"b":2}]`},
		"nothing twice":           {`[{},{}]`, `{}`},
		"encoded twice in it":     {`{"data":"{\"a\":1}"}`, `"{\"a\":1}"`},
		"null":                    {` null`, ` null`},
		"list of null":            {`[null]`, `null`},
		"null in envelope":        {`{"city": null ,"meta":{}}`, `null`},
		"null in envelopes":       {`{"data":{"city":null},"meta":{}}`, `null`},
		"null in list in it":      {`{"cities":[null]}`, `null`},
		"null beside more":        {`{"title":"t","data":null}`, `{"title":"t","data":null}`},
		"null beside another":     {`{"data":null,"city":{"name":"x"}}`, `{"name":"x"}`},
		"metadata alone":          {`{"meta":null,"type":"city"}`, `{"meta":null,"type":"city"}`},
	} {
		got, missing := s.one([]byte(c.body))
		if string(got.raw) != c.want {
			t.Errorf("%s: got %s, want %s", name, got.raw, c.want)
		}
		if (missing == "") != (strings.Contains(c.want, `{"`) && c.want[0] != '"') {
			t.Errorf("%s: found %q in place of the record", name, missing)
		}
	}
}

func TestStatedRecordsComeFirst(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Records = map[report.Kind][]string{report.Advisories: {"/countries", "/event/data"}}
	cfg.IDs = map[report.Kind][]string{report.Advisories: {"/iso3"}}
	parser, err := newBodyParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := parser[report.Advisories]
	for body, want := range map[string][]string{
		`{"countries":[{"iso3":"FRA"},{"iso3":"BEL"}],"meta":{}}`: {`{"iso3":"FRA"}`, `{"iso3":"BEL"}`},
		`{"iso3":"envelope","event":{"data":{"iso3":"FRA"}}}`:     {`{"iso3":"FRA"}`},
		`{"iso3":"FRA"}`: {`{"iso3":"FRA"}`},
	} {
		if got := texts(s.list([]byte(body))); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

// If the operator configures where ids are, a number there is an id, whatever the member
// is called.
func TestStatedIDMayBeANumber(t *testing.T) {
	cfg := DefaultConfig()
	cfg.IDs = map[report.Kind][]string{report.Cities: {"/id", "/code"}}
	parser, err := newBodyParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for record, want := range map[string]string{
		`{"code":200,"cities":[{"id":130}]}`: "200",
		`{"code":"LON"}`:                     "LON",
		`{"iata":"LON"}`:                     "",
	} {
		if got, _ := parser[report.Cities].idIn(recordOf([]byte(record))); got != want {
			t.Errorf("%s: id %q, want %q", record, got, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	s := splitterForTest(t)
	for record, want := range map[string]string{
		`{"id":130}`:                        "130",
		`{"id":"130"}`:                      "130",
		`{"id":130.0}`:                      "130",
		`{"id":1.3e2}`:                      "130",
		`{"id":12345678901234567890}`:       "12345678901234567890",
		`{"id":1.5}`:                        "1.5",
		`{"id":"1.30e2"}`:                   "1.30e2",
		`{"id":null,"code":"LON"}`:          "LON",
		`{"id":"","code":"LON"}`:            "LON",
		`{"id":{"x":1},"uuid":"u"}`:         "u",
		`{"id":true,"uuid":"u"}`:            "u",
		`{"attributes":{"id":5}}`:           "5",
		`{"id":"\u00e9\/"}`:                 "é/",
		`{"code":"LON","id":130}`:           "130",
		`{"code":200}`:                      "",
		`{"code":200,"iata":"LON"}`:         "LON",
		`{"code":"200"}`:                    "200",
		`{"attributes":{"code":1}}`:         "",
		`{"name":"x"}`:                      "",
		`[1]`:                               "",
		`{"id":"x\ud800"}`:                  "x" + halfPair,
		`{"id":[130]}`:                      "",
		`{"data":{"id":130},"meta":"none"}`: "",
	} {
		if got, _ := s.idIn(recordOf([]byte(record))); got != want {
			t.Errorf("%s: id %q, want %q", record, got, want)
		}
	}
	for record, want := range map[string]string{
		`{"id":130,"code":"LON"}`:       "LON",
		`{"id":130,"code":"lon"}`:       "LON",
		`{"attributes":{"code":"LON"}}`: "LON",
		`{"code":"GB-LND"}`:             "",
		`{"code":130}`:                  "",
		`{"code":130,"iata":"LON"}`:     "LON",
		`{"code":"ÄÖÜ"}`:                "",
		`{"code":["LON"],"iata":"lhr"}`: "LHR",
		`{"name":"x"}`:                  "",
	} {
		if got, none := s.codeIn(recordOf([]byte(record))); got != want || none {
			t.Errorf("%s: code %q, want %q", record, got, want)
		}
	}
}
