package mappings

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

func TestSearchBody(t *testing.T) {
	s := builtinSet(t)
	words := "  quotes \" and \\ and\n\"{{filter}}\"  \xff"
	body, err := s.SearchBody(words, SearchOptions{Kinds: []report.Kind{report.Cities}, Size: 5, From: 10})
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
	body, err = s.SearchBody("x", SearchOptions{})
	if err != nil || !strings.Contains(string(body), `"size":10`) || !strings.Contains(string(body), `"filter":[]`) || strings.Contains(string(body), "{{") {
		t.Errorf("got %s, %v", body, err)
	}
	if _, err := s.SearchBody(" \t", SearchOptions{}); !errors.Is(err, ErrNoWords) {
		t.Errorf("no words: %v", err)
	}
	most := strings.Repeat("é", maxCharacters)
	if body, err := s.SearchBody(most+"x", SearchOptions{}); err != nil || !strings.Contains(string(body), `"`+most+`"`) {
		t.Errorf("of too many words there is %s, %v", body, err)
	}
}
