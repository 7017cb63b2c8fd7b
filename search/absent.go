package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"riskdex/mappings/gazetteer"
)

// Absent is a place in the words of a search that no report is about.
type Absent struct {
	Name      string    `json:"name"`
	Countries oneOrMore `json:"country"` // ISO 3166 alpha-2
	Location  *Point    `json:"location,omitempty"`
}

// WithoutReport says which place no report is about, and what is nearest to it. It is empty if there is none.
func (r Result) WithoutReport() string {
	if r.NoReport == nil {
		return ""
	}
	text := fmt.Sprintf("No report on %s (%s).", r.NoReport.Name, strings.Join(r.NoReport.Countries, ", "))
	if len(r.about) == 0 && len(r.Hits) > 0 {
		if _, far := r.Hits[0].Nearest(r.NoReport.Around()); far != nil {
			text += fmt.Sprintf(" Nearest: %s, %.0f km.", r.Hits[0].Title, *far)
		}
	}
	return text
}

// Around is what an absent place is near to, to sort by distance.
func (a *Absent) Around() *Near {
	if a == nil || a.Location == nil {
		return nil
	}
	return &Near{a.Location.Latitude, a.Location.Longitude, nearEnough}
}

// nearEnough is how far a report is at most, in kilometres, that tells more of a place than what the other
// words find.
const nearEnough = 1500

// Ask makes a search with send. Where no report is about a place in its words, it finds reports nearby and
// on the country instead, and other words are proposed only if they find what the typed ones do not.
func (b Bodies) Ask(q Query, send func(body []byte) (Result, error)) (Result, error) {
	q.unnamed = true
	found, err := b.ask(q, send)
	b.local(found.Hits, q.Language)
	return found, err
}

func (b Bodies) ask(q Query, send func(body []byte) (Result, error)) (Result, error) {
	body, u, err := b.understood(q)
	if err != nil {
		return Result{}, err
	}
	found, err := send(body)
	found.Request.Body = body
	if q.Complete {
		found.Hits = completions(found.Hits, q.Words)
		for i, c := range u.Begun {
			if i < len(found.about) && found.about[i] > 0 {
				found.Completions = append(found.Completions, c)
			}
		}
	}
	if err != nil || q.Words == "" || q.Complete {
		return found, err
	}
	places := u.named()
	found.DidYouMean = ""
	if at := slices.Index(found.about, 0); at >= 0 && at < len(places) {
		p := places[at].Places[0]
		found.NoReport = b.absent(p)
		if !elsewhere(p, places, found.about) {
			return b.instead(found, q, p, u, send)
		}
		return found, nil
	}
	return b.corrected(found, q, u, send)
}

// shortestCorrected is the number of letters of a word that another is proposed for: shorter ones are like
// too many.
const shortestCorrected = 5

// corrected proposes other words for those that are not understood, if they are found as they are.
func (b Bodies) corrected(found Result, q Query, u Understood, send func([]byte) (Result, error)) (Result, error) {
	doubtful := u.doubtful()
	for i, word := range found.suggested {
		if folded := gazetteer.Fold(word.Text); len(folded) < shortestCorrected || !slices.Contains(doubtful, folded) {
			found.suggested[i].Options = nil
		}
	}
	proposed := didYouMean(found.suggested, found.Hits)
	if proposed == "" {
		return found, nil
	}
	q.Words, q.Size, q.From, q.Facets = proposed, 0, 0, false
	body, err := b.Body(q)
	if err != nil {
		return found, err
	}
	tried, err := send(body)
	if (tried.AsTyped || tried.Total > found.Total) && !slices.Contains(tried.about, 0) {
		found.DidYouMean = proposed
	}
	return found, err
}

// wellKnown is how many people live in a city that is meant by another of its names, such as Londres: a
// smaller one has names that are words, such as Rugby.
const wellKnown = 500_000

// named returns the places that are surely named.
func (u Understood) named() []Mention {
	return slices.DeleteFunc(u.spelt(), func(m Mention) bool {
		c := m.Places[0].City
		return m.Coded || c != nil && c.Population < wellKnown && gazetteer.Fold(c.Name) != m.Typed
	})
}

// doubtful returns the words that are not understood, and those that are nearly a name.
func (u Understood) doubtful() []string {
	words := slices.Clone(u.Rest)
	for _, m := range u.Places {
		if m.Misspelt {
			words = append(words, strings.Fields(m.Typed)...)
		}
	}
	return words
}

func (b Bodies) absent(p NamedPlace) *Absent {
	a := &Absent{Name: p.Name, Countries: p.Countries}
	c := p.City
	if c == nil {
		c = b.Witness.Largest(p)
	}
	if c != nil {
		a.Location = &Point{c.Lat(), c.Lon()}
	}
	return a
}

// elsewhere reports whether the words also name a place in no country of p that reports are about.
func elsewhere(p NamedPlace, places []Mention, about []int) bool {
	for i, m := range places {
		shared := func(code string) bool { return slices.Contains(p.Countries, code) }
		if about[i] > 0 && !slices.ContainsFunc(m.Places[0].Countries, shared) {
			return true
		}
	}
	return false
}

// instead replaces hits by what is nearest to an absent place, unless nothing is near and the other words
// have found something.
func (b Bodies) instead(
	found Result, q Query, p NamedPlace, u Understood, send func([]byte) (Result, error),
) (Result, error) {
	if q.Sort == Relevance {
		q.Sort = ""
	}
	others := found.Total > 0 && len(u.Rest)+len(u.Threats) > 0
	q.Words = ""
	for _, within := range []bool{true, false} {
		q.around = &around{p.Countries, found.NoReport.Around(), u.Threats, within}
		body, err := b.Body(q)
		if err != nil {
			return found, err
		}
		near, err := send(body)
		if err != nil {
			return found, err
		}
		if near.Total > 0 {
			near.NoReport, near.Request.Body = found.NoReport, found.Request.Body
			return near, nil
		}
		if others || q.Sort != "" { // then reports from anywhere would come first
			break
		}
	}
	return found, nil
}

// around is a search for what tells most of a place that no report is about.
type around struct {
	countries []string
	near      *Near // nil if unknown
	threats   []string
	within    bool // only in its countries, or near enough
}

// rank gives a body the query that a filter leaves, ordered by country and distance.
func (a around) rank(members clause) error {
	inCountry := clause{"terms": clause{"country": a.countries}}
	should := []any{
		clause{"constant_score": clause{"filter": inCountry}},
		clause{"constant_score": clause{"filter": clause{"terms": clause{"threats": a.threats}}, "boost": 0.3}},
		clause{"constant_score": clause{"filter": clause{"term": clause{"kind": "cities"}}, "boost": 0.2}},
	}
	bounds := []any{inCountry}
	if a.near != nil {
		near, err := a.near.filter()
		if err != nil {
			return err
		}
		bounds = append(bounds, near)
		var nearest []any
		for _, field := range locations() {
			nearest = append(nearest, clause{"distance_feature": clause{
				"field": field, "origin": []float64{a.near.Longitude, a.near.Latitude}, "pivot": strconv.Itoa(nearEnough/5) + "km",
			}})
		}
		should = append(should, clause{"dis_max": clause{"queries": nearest}})
	}
	filter := []any{members["query"]}
	if a.within {
		filter = append(filter, clause{"bool": clause{"should": bounds}})
	}
	members["query"] = clause{"bool": clause{"filter": filter, "should": should}}
	members["sort"] = []any{"_score", clause{"id": "asc"}, clause{"kind": "asc"}}
	return nil
}

// counted returns an aggregation that counts the reports on each place.
func counted(places []Mention) clause {
	var all []any
	for _, m := range places {
		var about []any
		for _, field := range []string{"names_known", "city_names_known", "region_names_known"} {
			about = append(about, clause{"match": clause{field: m.Typed}})
		}
		names := []string{m.Typed}
		for _, p := range m.Places {
			names = append(names, p.Name)
			if p.Country || len(p.Countries) > 1 {
				about = append(about, clause{"terms": clause{"country": p.Countries}})
			}
		}
		all = append(all, clause{"bool": clause{"should": append(about, phrases(slices.Compact(names))...)}})
	}
	return clause{"filters": clause{"filters": all}}
}

// countedBegun is counted for places that complete what was typed.
func countedBegun(begun []Completion) clause {
	var all []any
	for _, c := range begun {
		all = append(all, c.about())
	}
	return clause{"filters": clause{"filters": all}}
}

// phrases returns clauses that each find a name in the texts of a report.
func phrases(names []string) (all []any) {
	for _, name := range names {
		all = append(all, clause{"multi_match": clause{
			"query": name, "type": "phrase", "fields": []string{"title", "names", "places.name", "summary", "text", "text_in.*"},
		}})
	}
	return all
}

// otherNames returns what the places of the words are called where something else was typed: London for
// londres and lodnon.
func (u Understood) otherNames() (names []string) {
	for _, m := range u.Places {
		if name := m.Places[0].Name; gazetteer.Fold(name) != m.Typed {
			names = append(names, name)
		}
	}
	return names
}
