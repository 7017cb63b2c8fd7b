package mappings

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
	"riskdex/search"
)

func TestSearchBody(t *testing.T) {
	s := builtinSet(t)
	words := "  quotes \" and \\ and\n\"{{filter}}\"  \xff"
	body, err := s.SearchBody(words, search.Query{Kinds: []report.Kind{report.Cities}, Size: 5, From: 10})
	if err != nil {
		t.Fatal(err)
	}
	if !jsontext.Value(body).IsValid() {
		t.Fatalf("no JSON: %s", body)
	}
	for _, want := range []string{
		`"quotes \" and \\ and \"{{filter}}\""`, `"size":5`, `"from":10`, `"filter":[{"terms":{"kind":["cities"]}}]`,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	body, err = s.SearchBody("x", search.Query{})
	if err != nil || !strings.Contains(string(body), `"size":10`) || !strings.Contains(string(body), `"filter":[]`) || strings.Contains(string(body), "{{") {
		t.Errorf("got %s, %v", body, err)
	}
	if _, err := s.CompleteBody(" \t", search.Query{}); !errors.Is(err, search.ErrNoWords) {
		t.Errorf("no words: %v", err)
	}
	most := strings.Repeat("é", 100)
	if body, err := s.SearchBody(most+"x", search.Query{}); err != nil || !strings.Contains(string(body), `"`+most+`"`) {
		t.Errorf("of too many words there is %s, %v", body, err)
	}
}

// TestQuestionWordsAreNotRare: the words that search.json leaves out of its rare words are at least
// those of the index's question_words that are long enough to be one.
func TestQuestionWordsAreNotRare(t *testing.T) {
	var index struct {
		Settings struct {
			Index struct {
				Analysis struct {
					Filter map[string]struct {
						Stopwords any `json:"stopwords"`
					} `json:"filter"`
				} `json:"analysis"`
			} `json:"index"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(must(ReadFile("index.json")), &index); err != nil {
		t.Fatal(err)
	}
	words, ok := index.Settings.Index.Analysis.Filter["question_words"].Stopwords.([]any)
	if !ok {
		t.Fatal("index.json has no question_words")
	}
	_, list, _ := strings.Cut(string(must(ReadFile("search.json"))), `"stop_words": [`)
	list, _, _ = strings.Cut(list, "]")
	for _, word := range words {
		if len(word.(string)) >= 4 && !strings.Contains(list, `"`+word.(string)+`"`) {
			t.Errorf("%q counts as a rare word", word)
		}
	}
}
