package search

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// explanation is a part of what Elasticsearch says about a score. Its descriptions are those
// of Lucene.
type explanation struct {
	Value       float64       `json:"value"`
	Description string        `json:"description"`
	Details     []explanation `json:"details"`
}

var (
	bestOf     = regexp.MustCompile(`^max plus ([0-9.eE-]+) times others of:`)
	weightOf   = regexp.MustCompile(`(?s)^weight\((.*) in \d+\)`)
	fieldValue = regexp.MustCompile(`doc\['([^']+)'\]`)
	decayOf    = regexp.MustCompile(`^Function for field ([\w.]+):`)
	termIn     = regexp.MustCompile(`([A-Za-z_][\w.]*):("[^"]*"|[^\s()]+)`)
)

// parts returns what each of its details adds to the score, where e as a whole adds that
// much. It returns false where that is not known.
func (e explanation) parts(adds float64) ([]float64, bool) {
	if e.Value == 0 || len(e.Details) == 0 {
		return nil, false
	}
	share := make([]float64, len(e.Details)) // of each value
	switch best := bestOf.FindStringSubmatch(e.Description); {
	case strings.HasPrefix(e.Description, "sum of"):
		for i := range share {
			share[i] = 1
		}
	case best != nil, strings.HasPrefix(e.Description, "max of"):
		if best != nil {
			others, _ := strconv.ParseFloat(best[1], 64)
			for i := range share {
				share[i] = others
			}
		}
		top := slices.MaxFunc(e.Details, func(a, b explanation) int { return cmp.Compare(a.Value, b.Value) })
		share[slices.IndexFunc(e.Details, func(d explanation) bool { return d.Value == top.Value })] = 1
	case len(e.Details) == 1 && e.Details[0].Value != 0:
		share[0] = e.Value / e.Details[0].Value
	default:
		return nil, false
	}
	for i, d := range e.Details {
		share[i] *= d.Value / e.Value * adds
	}
	return share, true
}

// timed returns what was found and by what that is multiplied because of the time of a report, if e is the
// product of these; the factor is nil otherwise.
func (e explanation) timed() (found explanation, factor *explanation) {
	if strings.HasPrefix(e.Description, "function score, product of") && len(e.Details) == 2 && strings.HasPrefix(e.Details[0].Description, "sum of") {
		return e.Details[0], &e.Details[1]
	}
	return e, nil
}

// terms returns what was found in which field, where e adds that much to the score.
func (e explanation) terms(adds float64) []Term {
	if adds == 0 {
		return nil
	}
	if one := e.term(); len(one.Fields) > 0 {
		one.Score = adds
		return []Term{one}
	}
	parts, ok := e.parts(adds)
	if !ok { // a product of factors: what is in it belongs together
		parts = make([]float64, len(e.Details))
		if i := slices.IndexFunc(e.Details, func(d explanation) bool { return len(d.terms(1)) > 0 }); i >= 0 {
			parts[i] = adds
		}
	}
	var all []Term
	for i, part := range parts {
		for _, term := range e.Details[i].terms(part) {
			all = addTerm(all, term)
		}
	}
	slices.SortStableFunc(all, func(a, b Term) int { return cmp.Compare(b.Score, a.Score) })
	return all
}

// addTerm adds a term to those of other fields and words.
func addTerm(all []Term, term Term) []Term {
	for i, other := range all {
		if slices.Equal(other.Fields, term.Fields) && slices.Equal(other.Words, term.Words) {
			all[i].Score += term.Score
			return all
		}
	}
	return append(all, term)
}

// mostTermWords bounds the words of a term: one typed word may stand for many of the index.
const mostTermWords = 8

// term returns the term that e describes by itself, or none.
func (e explanation) term() Term {
	if decay := decayOf.FindStringSubmatch(e.Description); decay != nil {
		return Term{Fields: decay[1:]}
	}
	if strings.HasPrefix(e.Description, "field value function") {
		if field := fieldValue.FindStringSubmatch(e.Description); field != nil {
			return Term{Fields: field[1:]}
		}
	}
	text := e.Description
	switch weight := weightOf.FindStringSubmatch(text); {
	case weight != nil:
		text = weight[1]
	case !strings.Contains(text, "ConstantScore("):
		return Term{}
	}
	var found Term
	for _, match := range termIn.FindAllStringSubmatch(text, -1) {
		field, word := strings.TrimSuffix(match[1], "._index_prefix"), strings.Trim(match[2], `"`)
		if word = strings.TrimRight(word, "*"); field == "kind" || word == "" {
			continue
		}
		if !slices.Contains(found.Fields, field) {
			found.Fields = append(found.Fields, field)
		}
		if !slices.Contains(found.Words, word) && len(found.Words) < mostTermWords {
			found.Words = append(found.Words, word)
		}
	}
	return found
}
