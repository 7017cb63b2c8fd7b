package search

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/letters"
	"riskdex/mappings/gazetteer"
	"riskdex/report"
)

// Result is what a search found.
type Result struct {
	Total int   // documents that match
	More  bool  // Total is a lower bound
	Hits  []Hit // in the order that was asked for

	// DidYouMean is the search with likelier words in place of those that no report has. It
	// is empty if there is nothing to correct.
	DidYouMean string
	suggested  []suggestion // for each word

	// AsTyped reports whether a hit was found by the words as they were typed, and not only by
	// similar ones, or by a place among them.
	AsTyped bool

	// NoReport is a place in the words that no report is about, so that the hits are those nearest to it.
	// It is nil if there is none.
	NoReport *Absent
	about    []int // how many reports are about each place that the words surely name

	// Facets count the matching documents by the values of a field: kind, country,
	// risk_level, threats. The most frequent values come first.
	Facets map[string][]Count

	// Completions are the countries, regions and parts of the world that complete what was typed, and that
	// reports are about.
	Completions []Completion

	Request Request
}

// Completion is a name of a country, a region or a part of the world.
type Completion struct {
	NamedPlace
	Matched string // the name that was typed, if it is another
}

// Request is a search as it is sent to Elasticsearch.
type Request struct {
	Path string // with its query
	Body []byte // JSON
}

// Count is a value of a field and how many documents have it.
type Count struct {
	Value     string
	Documents int
}

// Hit is one document that was found.
type Hit struct {
	ID    report.ID
	Score float64 // how well it is found, if [Query.Scored]

	// Highlights are excerpts around what matches, by field, as HTML: what matches is
	// within <em>, everything else is escaped.
	Highlights map[string][]string

	CountryNames []string // of its countries, in the language that was asked for, or else in English
	InLanguage   string   // what the city of a city report is called in that language, if it has another name in it

	Fields
	clauses []string // the clauses of search.json that found it, by name
}

// Fields are those of a document that a list of hits shows. Which of them an answer has is up to the
// file of the body, or to [Query.Fields].
type Fields struct {
	Kind       report.Kind `json:"kind"`
	Code       string      `json:"code"`
	Title      string      `json:"title"`
	Summary    string      `json:"summary"`
	Countries  oneOrMore   `json:"country"`    // ISO 3166 alpha-2
	RiskLevel  int         `json:"risk_level"` // 1 to 5; 0 if the report states none
	RiskLabel  string      `json:"risk_label"`
	Threats    oneOrMore   `json:"threats"` // of threats.json
	StartsAt   string      `json:"starts_at"`
	EndsAt     string      `json:"ends_at"`
	Published  string      `json:"published_at"`
	Updated    string      `json:"updated_at"`
	Received   string      `json:"received_at"`
	Location   *Point      `json:"location"`
	Places     []Place     `json:"places"`
	Names      oneOrMore   `json:"names"`
	Airports   oneOrMore   `json:"airports"`
	NamesKnown string      `json:"names_known"`
	CodesKnown oneOrMore   `json:"codes_known"`
}

// List returns the names of the fields that a list of hits shows.
func List() []string {
	return []string{
		"kind", "code", "title", "summary", "country", "risk_level", "risk_label", "threats", "starts_at", "ends_at", "published_at", "updated_at", "received_at",
		"location", "places.name", "places.location", "names", "airports", "names_known", "codes_known",
	}
}

// Point is a point on the globe, in degrees.
type Point struct {
	Latitude  float64 `json:"lat"`
	Longitude float64 `json:"lon"`
}

// Place is a place that a report is about.
type Place struct {
	Name     string `json:"name,omitempty"`
	Location *Point `json:"location"`
}

// Nearest returns the place of h that is nearest to a point, which is without a name if it is the location
// of h itself, and how many kilometres it is from there, to ten metres. It returns nil if there is none.
func (h Hit) Nearest(near *Near) (at *Place, distance *float64) {
	if near == nil {
		return nil, nil
	}
	for _, p := range append([]Place{{Location: h.Location}}, h.Places...) {
		if p.Location == nil {
			continue
		}
		if d := math.Round(100*near.distance(*p.Location)) / 100; distance == nil || d < *distance {
			at, distance = &p, &d
		}
	}
	return at, distance
}

// Matched returns the code or the name other than the title by which a search for what was typed finds
// h: Bombay of Mumbai. It is empty if the title has what was typed.
func (h Hit) Matched(typed string) string {
	title, typed := folded(h.Title), folded(typed)
	begun := strings.TrimSuffix(typed, " ")
	if begun == " " || strings.HasPrefix(title, begun) || strings.Contains(typed, title) {
		return ""
	}
	among := ""
	for _, name := range h.otherNames() {
		switch is := folded(name); {
		case is == "  " || strings.Contains(title, is):
		case strings.HasPrefix(is, begun):
			return name
		case among == "" && strings.Contains(typed, is):
			among = name
		}
	}
	if strings.Contains(title, begun) {
		return ""
	}
	return among
}

// otherNames returns the codes and the names of h other than the title.
func (h Hit) otherNames() []string {
	known := strings.Fields(h.NamesKnown)
	for i, name := range known {
		known[i] = strings.ReplaceAll(name, "_", " ")
	}
	return slices.Concat([]string{h.Code}, h.Airports, h.CodesKnown, h.Names, known)
}

// mostCompletions is the number of places that are looked for in the index.
const mostCompletions = 5

// begun returns the places that complete the words of a query.
func (b Bodies) begun(q Query) []Completion {
	if !q.Complete || q.asFile || b.Witness == nil {
		return nil
	}
	typed := gazetteer.Fold(q.Words)
	if typed == "" {
		return nil
	}
	all := b.Witness.Begins(typed, utf8.RuneCountInString(typed) >= anywhere)
	return all[:min(mostCompletions, len(all))]
}

// local tells of hits what their city and their countries are called in a language.
func (b Bodies) local(hits []Hit, language string) {
	if b.Witness == nil {
		return
	}
	language, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(language, "_", "-")), "-")
	if language == "nb" || language == "nn" {
		language = "no"
	}
	for i := range hits {
		h := &hits[i]
		for _, code := range h.Countries {
			h.CountryNames = append(h.CountryNames, b.Witness.CountryIn(strings.ToUpper(code), language))
		}
		if h.Kind == report.Cities && language != "" {
			h.InLanguage = b.Witness.CityIn(append([]string{h.Title}, h.otherNames()...), h.Countries, language)
		}
	}
}

// anywhere is the number of letters from which a word within a name completes to it.
const anywhere = 4

// completions leaves, of what completes to what was typed, what begins so; from four letters on also what
// has a word that does, and what is only similar if nothing else is there.
func completions(hits []Hit, typed string) []Hit {
	begun := strings.TrimSuffix(folded(typed), " ")
	short := utf8.RuneCountInString(begun) <= anywhere // with the space before it
	within := func(name string) bool { return strings.Contains(folded(name), begun) }
	begins := func(name string) bool { return strings.HasPrefix(folded(name), begun) }
	has := func(is func(string) bool) func(Hit) bool {
		return func(h Hit) bool { return is(h.Title) || slices.ContainsFunc(h.otherNames(), is) }
	}
	if !slices.ContainsFunc(hits, has(begins)) && !short {
		return hits
	}
	return slices.DeleteFunc(hits, func(h Hit) bool { return !has(begins)(h) && (short || !has(within)(h)) })
}

// folded returns text as the index compares it, between spaces.
func folded(text string) string {
	return " " + letters.Fold(strings.Join(strings.Fields(text), " ")) + " "
}

// Excerpts returns up to two highlights, as HTML with <em> around what matches and everything else
// escaped, from the fields that read best. Of their paragraphs it leaves out those without a match and the
// title, which is shown anyway. Where what is left has no sentence but a label or a keyword, it returns the
// beginning of the summary.
func (h Hit) Excerpts(language string) []string {
	const most = 2
	text := "text"
	for field := range h.Highlights {
		// The same text, and more of it matches.
		if strings.HasPrefix(field, "text_in.") && text != "text_in."+language {
			text = field
		}
	}
	var sentences, labels []string
	for _, field := range []string{"summary", text, "places.name"} {
		for _, text := range h.Highlights[field] {
			read := false
			paragraphs := slices.DeleteFunc(strings.Split(text, "\n\n"), func(p string) bool {
				plain := html.UnescapeString(strings.NewReplacer("<em>", "", "</em>", "").Replace(p))
				matches := strings.Contains(p, "<em>") && folded(plain) != folded(h.Title)
				read = read || matches && isSentence(plain)
				return !matches
			})
			if joined := strings.Join(paragraphs, " … "); read && !slices.Contains(sentences, joined) {
				sentences = append(sentences, joined)
			} else if joined != "" && !read {
				labels = append(labels, joined)
			}
		}
	}
	if len(sentences) == 0 && h.Summary != "" {
		first, _, _ := strings.Cut(h.Summary, "\n\n")
		return []string{html.EscapeString(first)}
	}
	all := sentences
	if len(all) == 0 {
		all = labels
	}
	return all[:min(most, len(all))]
}

// isSentence tells text that says something from labels and keywords: it has four words, or signs that are
// written without spaces.
func isSentence(text string) bool {
	return len(strings.Fields(text)) >= 4 || utf8.RuneCountInString(text) >= 8 && strings.IndexFunc(text, func(c rune) bool { return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Thai) }) >= 0
}

// Path returns the path and the query of a search in aliases. docs/search.md tells apps to
// use the same, so riskdex sees what they see. A missing alias, a closed index or a shard
// that cannot answer fails the whole search: otherwise a report could be left out silently,
// and nobody would be told of the danger.
func Path(aliases ...string) string {
	return "/" + strings.Join(aliases, ",") + "/_search?allow_partial_search_results=false"
}

// ReadResult reads the answer to a search whose body was made by [Bodies.Body].
func ReadResult(answer []byte) (Result, error) {
	var found searchAnswer
	if err := json.Unmarshal(answer, &found); err != nil {
		return Result{}, fmt.Errorf("reading the answer: %w", err)
	}
	result := Result{Total: found.Hits.Total.Value, More: found.Hits.Total.Relation != "eq"}
	for _, hit := range found.Hits.Hits {
		h := Hit{ID: report.ID(hit.ID), Score: hit.Score, Highlights: hit.Highlight, Fields: hit.Source, clauses: hit.Clauses}
		result.AsTyped = result.AsTyped || wellFound(h.clauses)
		result.Hits = append(result.Hits, h)
	}
	if !result.AsTyped {
		result.suggested = found.Suggest.DidYouMean
		result.DidYouMean = didYouMean(result.suggested, result.Hits)
	}
	for field, facet := range found.Facets {
		if field == "places" {
			for _, bucket := range append(facet.Buckets, facet.Apart.Buckets...) {
				result.about = append(result.about, bucket.Documents)
			}
			continue
		}
		if result.Facets == nil {
			result.Facets = make(map[string][]Count)
		}
		for _, bucket := range append(facet.Buckets, facet.Apart.Buckets...) {
			value := strings.Trim(string(bucket.Key), `"`)
			if field == "country" { // the index compares countries without regard to case
				value = strings.ToUpper(value)
			}
			result.Facets[field] = append(result.Facets[field], Count{value, bucket.Documents})
		}
	}
	return result, nil
}

type searchAnswer struct {
	Hits struct {
		Total struct {
			Value    int    `json:"value"`
			Relation string `json:"relation"`
		} `json:"total"`
		Hits []struct {
			ID        string              `json:"_id"`
			Score     float64             `json:"_score"`
			Source    Fields              `json:"_source"`
			Clauses   []string            `json:"matched_queries"`
			Highlight map[string][]string `json:"highlight"`
		} `json:"hits"`
	} `json:"hits"`
	Suggest struct {
		DidYouMean []suggestion `json:"did_you_mean"`
	} `json:"suggest"`
	Facets map[string]struct {
		buckets
		Apart buckets `json:"apart"`
	} `json:"aggregations"`
}

type buckets struct {
	Buckets []struct {
		Key       jsontext.Value `json:"key"` // a string or a number
		Documents int            `json:"doc_count"`
	} `json:"buckets"`
}

// oneOrMore is a field that is a string or an array of strings.
type oneOrMore []string

// UnmarshalJSONFrom reads either form.
func (o *oneOrMore) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		return json.UnmarshalDecode(d, (*[]string)(o))
	}
	var one string
	if err := json.UnmarshalDecode(d, &one); err != nil {
		return err
	}
	*o = oneOrMore{one}
	return nil
}
