package search

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestReadScore divides a score as Lucene explains it: of several that count together the best,
// with a part of the others.
func TestReadScore(t *testing.T) {
	const body = `{"query": {"bool": {"should": [
		{"dis_max": {"_name": "a name", "tie_breaker": 0.5, "queries": [{"match": {"title": "x"}}, {"match": {"text": "x"}}]}},
		{"multi_match": {"_name": "as typed", "query": "x", "fields": ["title^2", "text.*"]}},
		{"term": {"code": {"_name": "a code", "value": "x"}}},
		{"function_score": {"_name": "known", "field_value_factor": {"field": "prominence"}}}
	]}}}`
	const answer = `{"hits": {"hits": [{"matched_queries": {"a name": 5, "as typed": 2, "a code": 2, "known": 4}, "_explanation":
		{"value": 13, "description": "sum of:", "details": [
			{"value": 13, "description": "sum of:", "details": [
				{"value": 5, "description": "max plus 0.5 times others of:", "details": [
					{"value": 2, "description": "weight(text:x in 1) [PerFieldSimilarity], result of:", "details": [{"value": 2, "description": "score(freq=1.0), computed as boost * idf * tf from:", "details": []}]},
					{"value": 4, "description": "weight(title:\"x y\"~2 in 1) [PerFieldSimilarity], result of:", "details": []}
				]},
				{"value": 2, "description": "weight(Synonym(text.exact:x text.exact:é) in 1) [PerFieldSimilarity], result of:", "details": []},
				{"value": 2, "description": "ConstantScore(+code:x #kind:cities)^2.0", "details": []},
				{"value": 4, "description": "min of:", "details": [
					{"value": 4, "description": "field value function: none(doc['prominence'].value?:0.0 * factor=4.0)", "details": []},
					{"value": 3.4E38, "description": "maxBoost", "details": []}
				]}
			]},
			{"value": 0, "description": "match on required clause, product of:", "details": [{"value": 1, "description": "_id:([31])", "details": []}]}
		]}}]}}`
	score, err := ReadScore([]byte(answer), []byte(body))
	if err != nil || !score.Found || score.Total != 13 {
		t.Fatalf("%+v, %v", score, err)
	}
	var got []string
	for _, r := range score.Reasons {
		line := fmt.Sprintf("%s %v:", r.Clause, r.Score)
		for _, term := range r.Terms {
			line += fmt.Sprintf(" %v %v %v", term.Fields, term.Words, term.Score)
		}
		got = append(got, line)
	}
	const want = `a name 5: [title] [x y] 4 [text] [x] 1
known 4: [prominence] [] 4
as typed 2: [text.exact] [x é] 2
a code 2: [code] [x] 2`
	if strings.Join(got, "\n") != want {
		t.Errorf("the reasons are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// TestReadScoreOfATime: what a report loses because it is over is a reason of its own, and what the reasons
// add is the score.
func TestReadScoreOfATime(t *testing.T) {
	const body = `{"query": {"function_score": {"query": {"bool": {"should": [{"term": {"code": {"_name": "a code", "value": "x"}}}]}}}}}`
	const answer = `{"hits": {"hits": [{"matched_queries": {"a code": 10}, "_explanation":
		{"value": 6, "description": "sum of:", "details": [
			{"value": 6, "description": "function score, product of:", "details": [
				{"value": 10, "description": "sum of:", "details": [{"value": 10, "description": "ConstantScore(code:x)^10.0", "details": []}]},
				{"value": 0.6, "description": "min of:", "details": [
					{"value": 0.6, "description": "function score, score mode [sum]", "details": [
						{"value": 0.6, "description": "Function for field ends_at:", "details": []}
					]}, {"value": 3.4E38, "description": "maxBoost", "details": []}
				]}
			]}
		]}}]}}`
	score, err := ReadScore([]byte(answer), []byte(body))
	if err != nil || len(score.Reasons) != 2 || score.Reasons[0].Clause != "a code" || score.Reasons[0].Score != 10 ||
		score.Reasons[1].Clause != "its time" || score.Reasons[1].Score != -4 || score.Reasons[1].Terms[0].Where() != "when it ends" {
		t.Errorf("%+v, %v", score.Reasons, err)
	}
}

// TestReadScoreOfTheUnknown: what is not understood is a reason all the same, so that what the
// reasons add is the score.
func TestReadScoreOfTheUnknown(t *testing.T) {
	for _, explanation := range []string{
		`{"value": 3, "description": "something new", "details": []}`,
		`{"value": 3, "description": "product of:", "details": [{"value": 1.5, "description": "a"}, {"value": 2, "description": "weight(title:x in 1)"}]}`,
		`{"value": 3, "description": "max of:", "details": [{"value": 3, "description": "a"}, {"value": 3, "description": "b"}]}`,
		`{"value": 3, "description": "one:", "details": [{"value": 0, "description": "a"}]}`,
	} {
		score, err := ReadScore([]byte(`{"hits": {"hits": [{"matched_queries": {}, "_explanation": `+explanation+`}]}}`), []byte(`{}`))
		sum := 0.0
		for _, r := range score.Reasons {
			sum += r.Score
		}
		if err != nil || !score.Found || math.Abs(sum-3) > 1e-9 {
			t.Errorf("%s: %+v, %v", explanation, score, err)
		}
	}
	for _, answer := range []string{``, `{"hits": {"hits": [{}]}}`, `{"hits": {"hits": [{"_explanation": {}, "matched_queries": ["a"]}]}}`} {
		if _, err := ReadScore([]byte(answer), []byte(`{}`)); err == nil {
			t.Errorf("%q is read without an error", answer)
		}
	}
}

func TestFieldsInWords(t *testing.T) {
	for field, want := range map[string]string{
		"text_in.de": "text in its language", "title": "title", "title.exact": "title (as it is written)", "names.whole": "other name in the report (all of it)",
		"places.name.named": "name of a place in it", "unknown.exact": "unknown.exact", "": "",
	} {
		if got := fieldInWords(field); got != want {
			t.Errorf("%s is %q in words, want %q", field, got, want)
		}
	}
}
