package exam

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"riskdex/internal/testkit/relevancetest"
	"riskdex/mappings"
	"riskdex/report"
)

//go:embed testdata/languages/reports.jsonl
var languageReports string

//go:embed testdata/languages/queries.tsv
var languageQueries string

// TestLanguages asks for reports in many languages by their own words, in other forms than
// those of the report, among reports in all other languages.
func TestLanguages(t *testing.T) {
	set, err := mappings.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	e := engine{relevancetest.NewIndex(t, set)}
	e.Add(t, set, reportsInLanguages(t))
	e.Show(t)
	queries := queriesInLanguages(t)
	withoutLanguages := func(class, words string) ([]byte, error) {
		body, err := e.own(class, words)
		return bytes.ReplaceAll(body, []byte(`"text_in.*"`), []byte(`"nothing"`)), err
	}
	results := sheet{
		"own": ask(t, e, queries, e.own), "without": ask(t, e, queries, withoutLanguages),
		"plain": ask(t, e, queries, plainBody), "simple": ask(t, e, queries, simpleBody),
	}
	for _, o := range results["own"] {
		if o.Rank != 1 {
			t.Logf("%s: %q: rank %d, nDCG %.2f: %s", o.Query.Class, o.Query.Words, o.Rank, o.NDCG, strings.Join(o.Hits[:min(5, len(o.Hits))], ", "))
		}
	}
	scores := map[string]map[string]*relevancetest.Score{}
	for asked, outcomes := range results {
		scores[asked] = relevancetest.ByClass(outcomes)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s%8s%8s%6s%8s │%15s │%15s │%15s\n", "language", "queries", "first", "MRR", "nDCG", "without text_in", "plain", "simple")
	for _, class := range slices.Sorted(maps.Keys(scores["own"])) {
		o, w, p, s := scores["own"][class], scores["without"][class], scores["plain"][class], scores["simple"][class]
		fmt.Fprintf(&b, "%-10s%8d%8.2f%6.2f%8.2f │%7.2f%8.2f │%7.2f%8.2f │%7.2f%8.2f\n",
			class, o.Queries, o.First, o.MRR, o.NDCG, w.MRR, w.NDCG, p.MRR, p.NDCG, s.MRR, s.NDCG)
	}
	t.Logf("\n%s", b.String())
	for _, floor := range []struct {
		asked, class string
		least        relevancetest.Score
	}{
		{"own", "all", relevancetest.Score{First: 0.86, MRR: 0.88, NDCG: 0.88}},
		{"own", "en", relevancetest.Score{First: 1, MRR: 1, NDCG: 1}},
		{"without", "en", relevancetest.Score{First: 1, MRR: 1, NDCG: 1}},
	} {
		if missed := scores[floor.asked][floor.class].Below(floor.least); missed != "" {
			t.Errorf("%s, %s: %s", floor.asked, floor.class, missed)
		}
	}
	if lost := scores["own"]["all"].MRR - scores["without"]["all"].MRR; lost < 0.2 {
		t.Errorf("without text_in, MRR is only %.2f lower: other fields find as much", lost)
	}
}

// reportsInLanguages returns the records of reports.jsonl as special reports.
func reportsInLanguages(t *testing.T) []report.Change {
	t.Helper()
	var all []report.Change
	for line := range strings.Lines(languageReports) {
		var record struct{ ID string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("reports.jsonl:%d: %v", len(all)+1, err)
		}
		all = append(all, report.Change{
			Key: report.Key{Kind: report.SpecialReports, ID: report.ID(record.ID)}, Op: report.Index,
			Version: report.Version(len(all) + 1), Body: []byte(strings.TrimSpace(line)),
		})
	}
	return all
}

// queriesInLanguages reads queries.tsv of the languages.
func queriesInLanguages(t *testing.T) []relevancetest.Query {
	t.Helper()
	var all []relevancetest.Query
	for line := range strings.Lines(languageQueries) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSpace(line), "\t")
		if len(columns) != 3 {
			t.Fatalf("languages/queries.tsv: %q has %d columns, want language, query and reports", line, len(columns))
		}
		q := relevancetest.Query{Class: columns[0], Words: columns[1], Grades: map[string]int{}}
		for judged := range strings.SplitSeq(columns[2], "; ") {
			grade, id, _ := strings.Cut(judged, " ")
			n, err := strconv.Atoi(grade)
			if err != nil || !strings.Contains(languageReports, `{"id":"`+id+`"`) {
				t.Fatalf("languages/queries.tsv: %q is not a grade and the id of a report", judged)
			}
			q.Grades[string(report.SpecialReports)+"/"+id] = n
		}
		all = append(all, q)
	}
	return all
}
