package relevance

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"riskdex/internal/samplefeed"
	"riskdex/internal/samplefeed/samplefeedtest"
	"riskdex/internal/testkit/relevancetest"
	"riskdex/receiver"
	"riskdex/report"
)

// finalState sends the sample feed through the receiver into a journal and
// returns what an index has to hold in the end.
func finalState(t testing.TB) []report.Change {
	t.Helper()
	requests, err := samplefeed.Feed()
	if err != nil {
		t.Fatal(err)
	}
	answers, live := relevancetest.Deliver(t, receiver.DefaultConfig(), requests)
	for i, answer := range answers {
		if answer.Status != 202 {
			t.Fatalf("%s: %d %s", requests[i].What, answer.Status, answer.Body)
		}
	}
	n := map[report.Kind]int{}
	for _, c := range live {
		n[c.Kind]++
	}
	expected := samplefeedtest.Read(t)
	for _, kind := range report.Kinds() {
		if n[kind] != len(expected.Live[kind]) {
			t.Fatalf("%d live documents of %s, want %d", n[kind], kind, len(expected.Live[kind]))
		}
	}
	return live
}

var endDate = regexp.MustCompile(`("end_date":\s*")\d{4}`)

// ongoing returns changes whose events last: the queries ask for them, and not when they were.
func ongoing(changes []report.Change) []report.Change {
	for i, c := range changes {
		changes[i].Body = endDate.ReplaceAll(c.Body, []byte("${1}2096"))
	}
	return changes
}

// rivals are reports whose title is the code of another city or of its airport.
// Without them nothing in the feed contests a code.
func rivals() []report.Change {
	var all []report.Change
	for i, title := range []string{"Lon", "Par", "Can", "Mar", "Jfk"} {
		all = append(all, report.Change{
			Key: report.Key{Kind: report.Cities, ID: report.ID("rival-" + title)}, Op: report.Index,
			Version: report.Version(i + 1), AcceptedAt: time.Now(), Body: []byte(`{"title":"` + title + `"}`),
		})
	}
	return all
}

// document is what the feed says about one report, read without any of the code under test.
// Texts are in lower case, without markup.
type document struct {
	kind    report.Kind
	key     string // kind/id
	code    string
	country string
	title   string
	text    string
}

var (
	markup     = regexp.MustCompile(`<[^>]*>`)
	whiteSpace = regexp.MustCompile(`\s+`)
)

func readable(text string) string {
	return whiteSpace.ReplaceAllString(strings.ToLower(html.UnescapeString(markup.ReplaceAllString(text, " "))), " ")
}

func facts(t testing.TB, changes []report.Change) []document {
	t.Helper()
	var all []document
	for _, c := range changes {
		d := document{kind: c.Kind, key: string(c.Kind) + "/" + string(c.ID), code: c.Code}
		var record map[string]any
		if err := json.Unmarshal(c.Body, &record); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"data", "city", "advisory"} {
			if inner, ok := record[name].(map[string]any); ok {
				record = inner
			}
		}
		if inner, ok := record["attributes"].(map[string]any); ok {
			record = inner
		}
		d.country, _ = record["country"].(string)
		if list, ok := record["countries"].([]any); ok && len(list) > 0 {
			d.country, _ = list[0].(string)
		}
		d.country = strings.ToUpper(d.country)
		for _, name := range []string{"title", "name", "city"} {
			if title, ok := record[name].(string); ok && d.title == "" {
				d.title = readable(title)
			}
		}
		var texts []string
		gather(record, &texts)
		d.text = readable(strings.Join(texts, " \n "))
		all = append(all, d)
	}
	return all
}

// gather collects the strings of a value, except those of files.
func gather(v any, texts *[]string) {
	switch v := v.(type) {
	case string:
		*texts = append(*texts, v)
	case []any:
		for _, inner := range v {
			gather(inner, texts)
		}
	case map[string]any:
		for name, inner := range v {
			if name != "file" {
				gather(inner, texts)
			}
		}
	}
}

// city is a row of the table of the cities in the feed.
type city struct {
	code, name        string
	airports, aliases []string
}

func cities(t testing.TB) []city {
	t.Helper()
	table, err := os.ReadFile("testdata/cities.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []city
	for _, row := range rows[1:] {
		all = append(all, city{
			code: row[0], name: row[1], airports: strings.Fields(row[6]),
			aliases: strings.FieldsFunc(row[7], func(r rune) bool { return r == '|' }),
		})
	}
	return all
}
