package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// Score is why a search finds a document, and what each part of that adds to its score.
type Score struct {
	Found   bool
	Total   float64
	Reasons []Reason       // what adds most comes first
	Raw     jsontext.Value // as Elasticsearch explains it
}

// Reason is a clause of a search that found a document.
type Reason struct {
	Clause string  // its _name in the search; empty if it has none
	Score  float64 // what it adds to the score
	Terms  []Term  // what adds most comes first
}

// Term is what was found in a field. Where Elasticsearch does not say in which of several
// fields or by which of several words, all of them are listed.
type Term struct {
	Fields []string
	Words  []string // as the index has them; empty if the value of the field counts
	Score  float64  // what it adds to the score
}

// Share returns which part of the score a reason is, in percent.
func (s Score) Share(of float64) int {
	if s.Total == 0 {
		return 0
	}
	return int(100*of/s.Total + .5)
}

// tooLittle is a score that is not worth a person's time.
const tooLittle = 0.05

// Telling returns the terms that are worth a person's time.
func (r Reason) Telling() (terms []Term) {
	for _, t := range r.Terms {
		if t.Score >= tooLittle || len(terms) == 0 {
			terms = append(terms, t)
		}
	}
	return terms
}

// Where says where something was found, in words.
func (t Term) Where() string {
	var all []string
	for _, field := range t.Fields {
		if words := fieldInWords(field); !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	return strings.Join(all, ", or ")
}

// What returns the words of the index as people write them.
func (t Term) What() string { return strings.ReplaceAll(strings.Join(t.Words, ", or "), "_", " ") }

// ScoreBody returns the body of a search that explains the score that the search of body gives
// the document with an id. To be sent to [ScorePath].
func ScoreBody(body []byte, id report.ID) ([]byte, error) {
	var search struct {
		Query jsontext.Value `json:"query"`
	}
	if err := json.Unmarshal(body, &search); err != nil {
		return nil, fmt.Errorf("reading the search: %w", err)
	}
	return json.Marshal(clause{
		"size": 1, "explain": true, "_source": false,
		"query": clause{"bool": clause{"must": search.Query, "filter": clause{"ids": clause{"values": []report.ID{id}}}}},
	}, json.Deterministic(true))
}

// ScorePath returns the path and the query of a search whose body was made by ScoreBody.
// Elasticsearch has answered it since 8.8.
func ScorePath(alias string) string { return Path(alias) + "&include_named_queries_score=true" }

// ReadScore reads the answer to a search that ScoreBody made of body.
func ReadScore(answer, body []byte) (Score, error) {
	var found struct {
		Hits struct {
			Hits []struct {
				Explanation jsontext.Value     `json:"_explanation"`
				Clauses     map[string]float64 `json:"matched_queries"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return Score{}, fmt.Errorf("reading the explanation: %w", err)
	}
	if len(found.Hits.Hits) == 0 {
		return Score{}, nil
	}
	hit := found.Hits.Hits[0]
	var tree explanation
	if err := json.Unmarshal(hit.Explanation, &tree); err != nil {
		return Score{}, fmt.Errorf("reading the explanation: %w", err)
	}
	reader := scoreReader{left: hit.Clauses, texts: make(map[string]map[string]bool)}
	if err := reader.readNames(body); err != nil {
		return Score{}, fmt.Errorf("reading the search: %w", err)
	}
	reader.clauses(tree, tree.Value)
	slices.SortStableFunc(reader.reasons, func(a, b Reason) int { return cmp.Compare(b.Score, a.Score) })
	return Score{Found: true, Total: tree.Value, Reasons: reader.reasons, Raw: hit.Explanation}, nil
}

// scoreReader divides the score of a document among the clauses of a search.
type scoreReader struct {
	left    map[string]float64         // the score of every clause that found it and is not yet a reason
	texts   map[string]map[string]bool // by the name of a clause, every string in it: its fields are among them
	reasons []Reason
}

// readNames finds the clauses that have a name.
func (s *scoreReader) readNames(body []byte) error {
	var search any
	if err := json.Unmarshal(body, &search); err != nil {
		return err
	}
	var gather func(of string, value any, into []map[string]bool)
	gather = func(of string, value any, into []map[string]bool) {
		switch value := value.(type) {
		case map[string]any:
			if name, ok := value["_name"].(string); ok {
				s.texts[name] = map[string]bool{of: true} // in a match, the name is below the field
				into = append(slices.Clip(into), s.texts[name])
			}
			for member, inner := range value {
				for _, texts := range into {
					texts[member] = true
				}
				gather(member, inner, into)
			}
		case []any:
			for _, inner := range value {
				gather(of, inner, into)
			}
		case string:
			field, _, _ := strings.Cut(value, "^")
			for _, texts := range into {
				texts[field] = true
			}
		}
	}
	gather("", search, nil)
	return nil
}

// clauses adds the reasons in a part of an explanation. adds is what that part adds to the
// score.
func (s *scoreReader) clauses(e explanation, adds float64) {
	if adds == 0 {
		return
	}
	terms := e.terms(adds)
	if name := s.named(e, terms); name != "" {
		delete(s.left, name)
		s.reasons = append(s.reasons, Reason{Clause: name, Score: adds, Terms: terms})
		return
	}
	if found, time := e.timed(); time != nil {
		s.clauses(found, found.Value)
		if gains := adds - found.Value; math.Abs(gains) >= tooLittle {
			s.reasons = append(s.reasons, Reason{Clause: "its time", Score: gains, Terms: time.terms(gains)})
		}
		return
	}
	parts, ok := e.parts(adds)
	if !ok || len(e.term().Fields) > 0 {
		s.reasons = append(s.reasons, Reason{Score: adds, Terms: terms})
		return
	}
	for i, part := range parts {
		s.clauses(e.Details[i], part)
	}
}

// named returns the name of the clause that a part of an explanation is about: it has the
// same score, and the fields.
func (s *scoreReader) named(e explanation, terms []Term) string {
	var names []string
	for name, score := range s.left {
		if math.Abs(score-e.Value) <= 1e-4*math.Abs(e.Value) && s.hasFields(name, terms) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

func (s *scoreReader) hasFields(name string, terms []Term) bool {
	for _, term := range terms {
		for _, field := range term.Fields {
			parent, _, _ := strings.Cut(field, ".")
			if !s.texts[name][field] && !s.texts[name][parent+".*"] {
				return false
			}
		}
	}
	return len(terms) > 0
}
