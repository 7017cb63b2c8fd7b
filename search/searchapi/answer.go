package searchapi

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
	"riskdex/search"
)

// Found is the answer to a search.
type Found struct {
	Total      int                `json:"total"`
	More       bool               `json:"more"` // total is a lower bound
	Hits       []Hit              `json:"hits"`
	Facets     map[string][]Count `json:"facets"`
	DidYouMean string             `json:"did_you_mean,omitempty"`
	NoReportOn *search.Absent     `json:"no_report_on,omitempty"`
	NoReport   bool               `json:"no_report"` // by words, nothing, or only what is similar to the words, or about a place in them
}

// Count is a value of a facet.
type Count struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Hit is a report that was found.
type Hit struct {
	Suggestion
	RiskLevel int           `json:"risk_level,omitempty"`
	RiskLabel string        `json:"risk_label,omitempty"`
	Threats   []string      `json:"threats"`
	StartsAt  string        `json:"starts_at,omitempty"`
	EndsAt    string        `json:"ends_at,omitempty"`
	Published string        `json:"published_at,omitempty"`
	Updated   string        `json:"updated_at,omitempty"`
	Received  string        `json:"received_at"`
	Location  *search.Point `json:"location,omitempty"`
	Nearest   *search.Place `json:"nearest,omitempty"`
	Distance  *float64      `json:"distance_km,omitempty"`
	Snippet   string        `json:"snippet"` // HTML
}

// Completed is the answer to a completion.
type Completed struct {
	Hits   []Suggestion `json:"hits"`
	Places []Place      `json:"places,omitempty"`
}

// Place is a country, a region or a part of the world that reports are about.
type Place struct {
	Name    string   `json:"name"`
	Country []string `json:"country"`
	Matched string   `json:"matched,omitempty"`
}

// Suggestion is what a list of names shows of a report.
type Suggestion struct {
	Kind    report.Kind `json:"kind"`
	ID      report.ID   `json:"id"`
	Code    string      `json:"code,omitempty"`
	Title   string      `json:"title"`
	Country []string    `json:"country"`
	Matched string      `json:"matched,omitempty"`

	CountryNames []string `json:"country_names,omitempty"`
	InLanguage   string   `json:"in_language,omitempty"` // of a city
}

func suggestionOf(h search.Hit, q search.Query) Suggestion {
	return Suggestion{Kind: h.Kind, ID: h.ID, Code: h.Code, Title: h.Title, Country: list(h.Countries), Matched: h.Matched(q.Words), CountryNames: list(h.CountryNames), InLanguage: h.InLanguage}
}

func completedOf(found search.Result, q search.Query) Completed {
	completed := Completed{Hits: []Suggestion{}}
	for _, h := range found.Hits {
		completed.Hits = append(completed.Hits, suggestionOf(h, q))
	}
	for _, c := range found.Completions {
		completed.Places = append(completed.Places, Place{c.Name, c.Countries, c.Matched})
	}
	return completed
}

func foundOf(found search.Result, q search.Query) Found {
	answer := Found{
		Total: found.Total, More: found.More, Hits: []Hit{}, Facets: map[string][]Count{}, DidYouMean: found.DidYouMean,
		NoReport: q.Words != "" && (found.Total == 0 || found.NoReport != nil || q.From == 0 && !found.AsTyped), NoReportOn: found.NoReport,
	}
	if q.Near == nil {
		q.Near = found.NoReport.Around()
	}
	for _, h := range found.Hits {
		hit := Hit{
			Suggestion: suggestionOf(h, q), RiskLevel: h.RiskLevel, RiskLabel: h.RiskLabel, Threats: list(h.Threats),
			StartsAt: h.StartsAt, EndsAt: h.EndsAt, Published: h.Published, Updated: h.Updated, Received: h.Received,
		}
		if texts := h.Excerpts(q.Language); len(texts) > 0 {
			hit.Snippet = texts[0]
		}
		hit.Location = h.Location
		hit.Nearest, hit.Distance = h.Nearest(q.Near)
		answer.Hits = append(answer.Hits, hit)
	}
	for field, counts := range found.Facets {
		answer.Facets[field] = []Count{}
		for _, c := range counts {
			answer.Facets[field] = append(answer.Facets[field], Count{c.Value, c.Documents})
		}
	}
	return answer
}

// list returns a list that is never null.
func list(values []string) []string { return append([]string{}, values...) }

// documentFields are the fields of a document that apps can rely on, and which of them are lists.
func documentFields() map[string]bool {
	fields := map[string]bool{"names": true, "country": true, "threats": true, "airports": true, "places": true}
	for _, name := range []string{
		"id", "kind", "code", "title", "risk_level", "risk_label", "location", "summary", "text", "text_in", "starts_at", "ends_at", "published_at", "updated_at", "received_at", "version",
	} {
		fields[name] = false
	}
	return fields
}

// documentOf returns what apps get of a document of the index.
func documentOf(indexed jsontext.Value, withSource bool) (any, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(indexed, &members); err != nil {
		return nil, err
	}
	fields := documentFields()
	if withSource {
		fields["source"] = false
	}
	document := make(map[string]jsontext.Value, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, has := members[name]
		switch isList := fields[name]; {
		case isList && !has:
			value = jsontext.Value("[]")
		case isList && value.Kind() != '[':
			value = slices.Concat(jsontext.Value("["), value, jsontext.Value("]"))
		case !has:
			continue
		}
		document[name] = value
	}
	return document, nil
}
