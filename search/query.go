// Package search is what a search is, written once for the command, the page and the search API: what
// can be asked ([Query]), which request that is to Elasticsearch ([Bodies.Body], [Path]), and what was
// answered ([ReadResult], [ReadScore]). It sends nothing.
package search

import (
	"fmt"
	"math"
	"strings"
	"time"

	"riskdex/report"
)

// Query is what somebody asks. The zero value asks for the newest reports of every kind.
type Query struct {
	Words    string // as a person types them; only the first 100 characters count
	Complete bool   // Words are the beginning of a name or a code

	Kinds     []report.Kind // only these; empty means all
	Countries []string      // only reports about one of these, ISO 3166 alpha-2; empty means all
	Threats   []string      // only reports with one of these threats, as threats.json names them; empty means all
	RiskLevel int           // only this level and above, 1 to 5; 0 also finds reports that state none
	Levels    []int         // only these levels; empty means all
	Near      *Near         // only reports about a place near this point; nil means anywhere
	Valid     *Period       // only reports that are valid at some time in it; nil means at any time

	Sort     Order
	Language string // of the texts that excerpts are taken from, where a report has several, such as fr

	// Facets counts the values of each field that was narrowed as if it were not, so that several of
	// them can be chosen.
	Facets bool
	Fields []string // of a hit, in place of those that the file of the body names

	Size int // hits to return; 0 means 10, or 8 of a completion
	From int // hits to pass over; From and Size together are at most 10,000

	asFile  bool // see Bodies.FileBody
	unnamed bool // nobody explains its score: see withoutNames

	around *around // in place of the words
}

// Order is the order of hits. The zero value is by relevance; without words it is the nearest first if a
// point is given, or else the newest first.
type Order string

// The orders.
const (
	Relevance Order = "relevance"
	Newest    Order = "newest"
	Nearest   Order = "nearest"
	Risk      Order = "risk" // the highest first, then the newest
)

// Near is a circle on the globe, in degrees and kilometres.
type Near struct{ Latitude, Longitude, Kilometres float64 }

// Period is the time from Start to End, both included. They may be equal.
type Period struct{ Start, End time.Time }

// Mistake is what is wrong with a query, for whoever asks.
type Mistake struct{ Says string }

func (m *Mistake) Error() string { return m.Says }

func mistake(format string, args ...any) error { return &Mistake{fmt.Sprintf(format, args...)} }

// mostHits is how far Elasticsearch pages, unless an index is configured otherwise.
const mostHits = 10_000

type clause = map[string]any

// filters returns the clauses that every hit has to match, and those of them that are choices among the
// values of a facet, by its field. They do not count towards the score of a hit.
func (q Query) filters() (others []any, choices map[string]any, err error) {
	others, choices = []any{}, map[string]any{}
	if q.Size < 0 || q.From < 0 || q.Size > mostHits || q.From > mostHits-q.Size {
		return nil, nil, mistake("%d hits after the first %d are not available: only the first %d are", q.Size, q.From, mostHits)
	}
	if len(q.Kinds) > 0 {
		choices["kind"] = clause{"terms": clause{"kind": q.Kinds}}
	}
	for _, code := range q.Countries {
		if len(code) != 2 {
			return nil, nil, mistake("%q is not a country: give the two letters of ISO 3166, such as FR", code)
		}
		choices["country"] = clause{"terms": clause{"country": q.Countries}}
	}
	if len(q.Threats) > 0 {
		choices["threats"] = clause{"terms": clause{"threats": q.Threats}}
	}
	if q.RiskLevel != 0 {
		if q.RiskLevel < 1 || q.RiskLevel > 5 {
			return nil, nil, mistake("there is no risk level %d: levels are 1 to 5", q.RiskLevel)
		}
		choices["risk_level"] = clause{"range": clause{"risk_level": clause{"gte": q.RiskLevel}}}
	}
	if len(q.Levels) > 0 {
		if q.RiskLevel != 0 {
			return nil, nil, mistake("risk_level and risk_at_least are both there: give the one or the other")
		}
		choices["risk_level"] = clause{"terms": clause{"risk_level": q.Levels}}
	}
	if q.Near != nil {
		near, err := q.Near.filter()
		if err != nil {
			return nil, nil, err
		}
		others = append(others, near)
	}
	if q.Valid != nil {
		valid, err := q.Valid.filter()
		if err != nil {
			return nil, nil, err
		}
		others = append(others, valid)
	}
	return others, choices, nil
}

// by returns the order of hits.
func (q Query) by() Order {
	switch {
	case q.Sort != "":
		return q.Sort
	case strings.TrimSpace(q.Words) != "":
		return Relevance
	case q.Near != nil:
		return Nearest
	}
	return Newest
}

// Scored reports whether the score of a hit says how well it is found.
func (q Query) Scored() bool { return q.by() == Relevance }

// ordered gives the members of a body an order other than by relevance. It takes no script, which a
// cluster may not allow: the score of a hit is its place in the order, to about two minutes or
// a ten-millionth of the distance.
func (q Query) ordered(members clause) error {
	if q.around != nil {
		if err := q.around.rank(members); err != nil || q.Sort == "" {
			return err
		}
	}
	sort := []any{"_score", clause{"id": "asc"}, clause{"kind": "asc"}}
	functions := newest()
	switch q.by() {
	case Newest:
	case Risk:
		sort = append([]any{clause{"risk_level": clause{"order": "desc", "missing": "_last"}}}, sort...)
	case Nearest:
		if q.Near == nil {
			return mistake("sorting by distance needs a point: say what the reports are to be near")
		}
		functions = q.Near.nearest()
	default:
		return mistake("%q is not an order", q.Sort)
	}
	members["sort"] = sort
	members["query"] = clause{"function_score": clause{
		"query": clause{"bool": clause{"filter": members["query"]}}, "functions": functions, "score_mode": "max", "boost_mode": "replace",
	}}
	return nil
}

// newest scores a report by when it changed last, as its publisher says, or else by when it was accepted.
func newest() []any {
	stated := func(field string) clause { return clause{"range": clause{field: clause{"gte": "1970-01-01"}}} }
	score := func(field string, filter clause) clause {
		return clause{"filter": filter, "field_value_factor": clause{"field": field, "missing": 0}}
	}
	return []any{
		score("updated_at", stated("updated_at")), score("published_at", stated("published_at")),
		score("received_at", clause{"bool": clause{"must_not": []any{stated("updated_at"), stated("published_at")}}}),
	}
}

// nearest scores a report by the nearest place that it is about.
func (n Near) nearest() (functions []any) {
	for _, field := range locations() {
		functions = append(functions, clause{"filter": clause{"exists": clause{"field": field}}, "linear": clause{
			field: clause{"origin": clause{"lat": n.Latitude, "lon": n.Longitude}, "scale": fmt.Sprintf("%gkm", n.Kilometres)},
		}})
	}
	return functions
}

func locations() []string { return []string{"location", "places.location"} }

// distance returns how many kilometres p is from n.
func (n Near) distance(p Point) float64 {
	const radians, diameter = math.Pi / 180, 2 * 6371.0088
	a, b := math.Sin((p.Latitude-n.Latitude)*radians/2), math.Sin((p.Longitude-n.Longitude)*radians/2)
	return diameter * math.Asin(math.Sqrt(min(1, a*a+math.Cos(p.Latitude*radians)*math.Cos(n.Latitude*radians)*b*b)))
}

// filter finds a report by its own location or by any of its places.
func (n Near) filter() (clause, error) {
	inside := func(v, most float64) bool { return math.Abs(v) <= most } // false for NaN
	if !inside(n.Latitude, 90) || !inside(n.Longitude, 180) {
		return nil, mistake("%v,%v is not a point: a latitude is from -90 to 90, a longitude from -180 to 180", n.Latitude, n.Longitude)
	}
	if !(n.Kilometres > 0) || math.IsInf(n.Kilometres, 0) {
		return nil, mistake("%v km is not a distance: give a number above 0", n.Kilometres)
	}
	var within []any
	for _, field := range locations() {
		within = append(within, clause{"geo_distance": clause{
			"distance": fmt.Sprintf("%gkm", n.Kilometres),
			field:      clause{"lat": n.Latitude, "lon": n.Longitude},
		}})
	}
	return clause{"bool": clause{"should": within}}, nil
}

// filter leaves out reports that begin after the period or end before it. A report without
// a start or an end is open on that side.
func (p Period) filter() (clause, error) {
	if p.End.Before(p.Start) {
		return nil, mistake("the period from %s ends before it starts, at %s", p.Start.Format(time.RFC3339), p.End.Format(time.RFC3339))
	}
	outside := func(field, direction string, t time.Time) clause {
		return clause{"range": clause{field: clause{direction: t.UTC().Format("2006-01-02T15:04:05.999Z")}}}
	}
	return clause{"bool": clause{"must_not": []any{
		outside("starts_at", "gt", p.End), outside("ends_at", "lt", p.Start),
	}}}, nil
}
