package search

import (
	"slices"
	"strings"

	"riskdex/report"
)

// mostNamesakes is how many places of one name are looked for.
const mostNamesakes = 3

// request makes of search.json, with the words in it, the request for what was understood: it leaves out
// clauses that can find nothing but what is not meant, and adds some that need to know what the words are. A file of
// another shape stays as it is.
func (u Understood) request(members map[string]any, typed string) {
	outer := inside(inside(inside(inside(members, "query"), "function_score"), "query"), "bool")
	must := inside(inside(outer, "must"), "bool")
	if must == nil {
		return
	}
	found, _ := must["should"].([]any)
	ranked, _ := outer["should"].([]any)
	if u.Known() {
		found = slices.DeleteFunc(found, isNamed("misspelt name", "misspelt name, and other words", "misspelt words"))
		ranked = slices.DeleteFunc(ranked, isNamed("words of its title"))
		ranked = append(ranked, clause{"match": clause{"title.exact": clause{"_name": "words of its title", "query": u.Words, "boost": 4}}})
	}
	if !spaceless(typed) {
		found = slices.DeleteFunc(found, isNamed("a name in it without a space beside it"))
	}
	for _, m := range u.likely() {
		found = append(found, constant("a place that was understood", 20, m.about()))
	}
	if u.When != nil {
		function := inside(inside(members, "query"), "function_score")
		functions, _ := function["functions"].([]any)
		function["functions"] = append(functions, u.When.prefers()...)
		for _, m := range u.spelt() {
			if p := m.Places[0]; p.City != nil {
				found = append(found, constant("its country, in the time that was asked for", 10, both(
					inCountries(p.Countries), u.When.filter(),
				)))
			}
		}
	}
	if u.Words == "" { // a time or a kind alone
		kinds := u.Kinds
		if len(kinds) == 0 {
			kinds = []report.Kind{report.Advisories, report.SpecialReports}
		}
		found = []any{constant("the kind that was asked for", 1, clause{"terms": clause{"kind": kinds}})}
	}
	all := []any{outer["must"]}
	for _, phrase := range u.Phrases {
		found, all = append(found, phraseIn(phrase)), append(all, phraseIn(phrase))
	}
	must["should"], outer["must"] = found, all
	outer["should"] = append(ranked, u.better(typed)...)
}

func inside(members map[string]any, name string) map[string]any {
	inner, _ := members[name].(map[string]any)
	return inner
}

// isNamed returns whether a clause has one of the names.
func isNamed(names ...string) func(any) bool {
	var is func(value any) bool
	is = func(value any) bool {
		members, _ := value.(map[string]any)
		if name, ok := members["_name"].(string); ok {
			return slices.Contains(names, name)
		}
		for _, inner := range members {
			if len(members) == 1 && is(inner) {
				return true
			}
		}
		return false
	}
	return is
}

func constant(name string, boost int, filter clause) clause {
	return clause{"constant_score": clause{"_name": name, "boost": boost, "filter": filter}}
}

func either(all ...any) clause {
	return clause{"bool": clause{"should": all, "minimum_should_match": 1}}
}

func both(all ...any) clause { return clause{"bool": clause{"filter": all}} }

// inCountries finds by a term each, which an explanation tells.
func inCountries(codes []string) clause {
	var all []any
	for _, code := range codes {
		all = append(all, clause{"term": clause{"country": code}})
	}
	return either(all...)
}

func match(field, words string) clause { return clause{"match": clause{field: words}} }

var (
	aCity    = clause{"term": clause{"kind": report.Cities}}
	hasEnded = clause{"range": clause{"ends_at": clause{"lt": "now/d"}}}

	// dated is what says when it was; else nobody knows whether it is over.
	dated = either(clause{"exists": clause{"field": "starts_at"}}, clause{"exists": clause{"field": "updated_at"}}, clause{"exists": clause{"field": "published_at"}})
)

// current finds what is not over.
func current(filters ...any) clause {
	return clause{"bool": clause{"filter": filters, "must_not": hasEnded}}
}

// notCities are advisories and special reports.
func notCities(filters ...any) clause {
	return clause{"bool": clause{"filter": filters, "must_not": aCity}}
}

// about finds the reports about the places that a name may mean.
func (m Mention) about() clause {
	var all []any
	for _, p := range m.Places[:min(mostNamesakes, len(m.Places))] {
		all = append(all, p.about())
	}
	return either(all...)
}

func (p NamedPlace) about() clause {
	switch {
	case p.City != nil:
		return either(
			both(aCity, either(match("title.named", p.Name), match("names.named", p.Name), match("names_known", p.Name))),
			match("city_names_known", p.Name), match("places.name.named", p.Name),
		)
	case p.Country || len(p.Countries) > 1:
		return inCountries(p.Countries)
	}
	return match("region_names_known", p.Name)
}

// asWhole finds advisories and special reports on countries of p that name no city there.
func (p NamedPlace) asWhole() clause {
	return clause{"bool": clause{
		"filter": inCountries(p.Countries), "must_not": []any{aCity, clause{"exists": clause{"field": "city_names_known"}}},
	}}
}

func phraseInTitle(phrase string) clause { return clause{"match_phrase": clause{"title": phrase}} }

// phraseIn finds a phrase as it is typed, but for the forms of its words.
func phraseIn(phrase string) clause {
	return clause{"multi_match": clause{
		"_name": "the phrase in quotation marks", "query": phrase, "type": "phrase", "analyzer": "words",
		"fields": []string{"title^4", "names^4", "country_name^2", "places.name^4", "summary^2", "text"},
	}}
}

// shortestHeadline is the number of words of a query that may be a title.
const shortestHeadline = 4

// better returns what makes a report better than others that are found as well.
func (u Understood) better(typed string) (all []any) {
	named := u.likely()
	add := func(name string, boost int, filter clause) { all = append(all, constant(name, boost, filter)) }
	words := func(words string, fields ...string) clause {
		return clause{"multi_match": clause{"query": words, "type": "cross_fields", "operator": "and", "fields": fields}}
	}
	everywhere := []string{"title", "names", "country_name", "places.name", "summary", "text"}
	if len(tokensOf(typed)) >= shortestHeadline {
		if u.Said >= shortestHeadline {
			add("most words of its title", 500, clause{"match": clause{"title.exact": clause{"query": typed, "minimum_should_match": "75%"}}})
		}
		add("its title", 1000, clause{"match_phrase_prefix": clause{"title": clause{"query": typed, "analyzer": "words", "slop": 1}}})
	}
	var places []any
	for _, m := range named {
		places = append(places, m.about())
		if m.Misspelt && m.Places[0].City != nil {
			add("the city that is nearly called so", 160, both(m.about(), aCity))
		}
		if best := m.Places[0]; len(m.Places) > 1 && best.City == nil { // Bali is no town in India
			add("the best known of its namesakes", 400, best.about())
		}
	}
	if len(places) > 1 {
		add("all places that were named", 120, current(places...))
		if u.Subject == "" { // London Canada
			add("the city in the country that was named", 300, both(append(places, aCity)...))
			add("the report on a city that was named", 100, both(either(places...), aCity))
		}
	}
	if len(places) > 0 && u.Subject != "" {
		asked := words(u.Subject, "title", "places.name") // a word that is no threat may be in passing elsewhere
		if len(u.Threats) > 0 {                           // in other words, or in another language
			asked = either(words(u.Subject, "title", "summary", "places.name"), both(clause{"terms": clause{"threats": u.Threats}}, match("title", u.Subject)))
		}
		add("the place, and what was asked about it", 200, notCities(either(places...), asked))
		add("the same, and not over", 200, notCities(current(either(places...), asked)))
		if area := func(m Mention) bool { return len(m.Places[0].Countries) > 1 }; slices.ContainsFunc(named, area) {
			add("a country there, and in the text what was asked", 120, both(either(places...), words(u.Subject, "title", "summary", "text")))
		}
	}
	if len(named)+len(strings.Fields(u.Subject)) > 1 {
		all = append(all, constant("all words", 40, notCities(words(u.Words, everywhere...))))
	}
	isCity := func(m Mention) bool { return m.Places[0].City != nil }
	for _, m := range named {
		p := m.Places[0]
		if u.When != nil && !u.When.Latest {
			there := either(m.about(), p.asWhole())
			add("there, in the time that was asked for", 500, both(there, u.When.filter()))
			add("begins there then, or in the week before", 150, both(there, u.When.filter(), clause{"range": clause{"starts_at": clause{"gte": u.When.from() + "-7d"}}}))
		}
		switch alone := u.Subject == "" && !slices.ContainsFunc(named, isCity); {
		case alone && p.Country:
			titled := either(clause{"exists": clause{"field": "whole_country"}}, both(dated, either(phraseInTitle(p.Name), phraseInTitle(m.Typed))))
			add("on the country as a whole, and not over", 400, current(p.asWhole(), titled))
			add("a city of the country", 100, both(aCity, p.about()))
		case alone:
			all = append(all, clause{"function_score": clause{
				"query":              constant("a city of the region, the largest first", 40, both(aCity, p.about())),
				"field_value_factor": clause{"field": "prominence", "missing": 0}, "boost_mode": "sum",
			}})
		}
	}
	for _, idiom := range u.Idioms {
		add("the words for a time, as they are typed", 400, clause{"multi_match": clause{"query": idiom, "type": "phrase", "fields": everywhere}})
	}
	if len(u.Kinds) > 0 {
		add("the kind that was asked for", 60, clause{"terms": clause{"kind": u.Kinds}})
	}
	return all
}

// prefers returns the functions by which a score grows if a report is of a time.
func (w When) prefers() []any {
	if !w.Latest {
		return []any{clause{"filter": w.filter(), "weight": 0.8}}
	}
	var all []any
	for _, field := range []string{"starts_at", "updated_at", "published_at"} {
		all = append(all, clause{
			"filter": clause{"bool": clause{"filter": clause{"range": clause{field: clause{"lt": "now/d+1d"}}}, "must_not": aCity}},
			"exp":    clause{field: clause{"origin": "now/d", "scale": "14d", "decay": 0.5}}, "weight": 0.5,
		})
	}
	return all
}

// from is From to which a number of days can be added.
func (w When) from() string {
	if strings.HasPrefix(w.From, "now") {
		return w.From
	}
	return w.From + "||"
}

// filter finds advisories and special reports that are valid in a time, or begin in it.
func (w When) filter() clause {
	if w.Yearly {
		next := When{From: w.From + "+1y", To: w.To + "+1y"}
		return either(When{From: w.From, To: w.To}.filter(), next.filter())
	}
	begins, ends := clause{"gte": w.From}, clause{"lt": w.From}
	switch {
	case w.Latest:
		begins, ends = clause{"lt": "now/d+1d"}, clause{"lt": "now/d-14d"}
	case w.To != "":
		begins = clause{"lt": w.To}
	}
	return clause{"bool": clause{
		"filter":   clause{"range": clause{"starts_at": begins}},
		"must_not": []any{aCity, clause{"range": clause{"ends_at": ends}}},
	}}
}
