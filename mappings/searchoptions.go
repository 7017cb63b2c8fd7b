package mappings

import (
	"errors"
	"fmt"
	"math"
	"time"

	"riskdex/report"
)

// SearchOptions narrows a search. The zero value finds the best hits of every
// kind.
type SearchOptions struct {
	Kinds     []report.Kind // only these; empty means all
	Countries []string      // only reports about one of these, ISO 3166 alpha-2; empty means all
	Threats   []string      // only reports with one of these threats, as threats.json names them; empty means all
	RiskLevel int           // only this level and above, 1 to 5; 0 also finds reports that state none
	Near      *Near         // only reports about a place near this point; nil means anywhere
	Valid     *Period       // only reports that are valid at some time in it; nil means at any time

	NearestFirst bool // order by distance from Near: by the report's own location, then by that of its nearest place

	Size int // hits to return; 0 means 10, or 8 for CompleteBody
	From int // hits to pass over; From and Size together are at most 10,000
}

// Near is a circle on the globe, in degrees and kilometres.
type Near struct{ Latitude, Longitude, Kilometres float64 }

// Period is the time from Start to End, both included. They may be equal.
type Period struct{ Start, End time.Time }

// mostHits is how far Elasticsearch pages, unless an index is configured otherwise.
const mostHits = 10_000

type clause = map[string]any

// filters returns the clauses that every hit has to match. They do not count
// towards its score.
func (o SearchOptions) filters() ([]any, error) {
	filters := []any{}
	if o.Size < 0 || o.From < 0 || o.Size+o.From > mostHits {
		return nil, fmt.Errorf("%d hits after the first %d are not available: only the first %d are", o.Size, o.From, mostHits)
	}
	if len(o.Kinds) > 0 {
		filters = append(filters, clause{"terms": clause{"kind": o.Kinds}})
	}
	if len(o.Countries) > 0 {
		for _, code := range o.Countries {
			if len(code) != 2 {
				return nil, fmt.Errorf("%q is not a country: give the two letters of ISO 3166, such as FR", code)
			}
		}
		filters = append(filters, clause{"terms": clause{"country": o.Countries}})
	}
	if len(o.Threats) > 0 {
		filters = append(filters, clause{"terms": clause{"threats": o.Threats}})
	}
	if o.RiskLevel != 0 {
		if o.RiskLevel < 1 || o.RiskLevel > 5 {
			return nil, fmt.Errorf("there is no risk level %d: levels are 1 to 5", o.RiskLevel)
		}
		filters = append(filters, clause{"range": clause{"risk_level": clause{"gte": o.RiskLevel}}})
	}
	if o.Near != nil {
		near, err := o.Near.filter()
		if err != nil {
			return nil, err
		}
		filters = append(filters, near)
	}
	if o.Valid != nil {
		valid, err := o.Valid.filter()
		if err != nil {
			return nil, err
		}
		filters = append(filters, valid)
	}
	return filters, nil
}

// nearestFirst returns the sort by distance from n.
func (n *Near) nearestFirst() (any, error) {
	if n == nil {
		return nil, errors.New("sorting by distance needs a point: say what the reports are to be near")
	}
	by := func(field string) clause {
		return clause{"_geo_distance": clause{field: clause{"lat": n.Latitude, "lon": n.Longitude}, "unit": "km"}}
	}
	return []any{by("location"), by("places.location"), "_score", clause{"id": "asc"}}, nil
}

// filter finds a report by its own location or by any of its places.
func (n Near) filter() (clause, error) {
	inside := func(v, most float64) bool { return math.Abs(v) <= most } // false for NaN
	if !inside(n.Latitude, 90) || !inside(n.Longitude, 180) {
		return nil, fmt.Errorf("%v,%v is not a point: a latitude is from -90 to 90, a longitude from -180 to 180", n.Latitude, n.Longitude)
	}
	if !(n.Kilometres > 0) || math.IsInf(n.Kilometres, 0) {
		return nil, fmt.Errorf("%v km is not a distance: give a number above 0", n.Kilometres)
	}
	within := func(field string) clause {
		return clause{"geo_distance": clause{
			"distance": fmt.Sprintf("%gkm", n.Kilometres),
			field:      clause{"lat": n.Latitude, "lon": n.Longitude},
		}}
	}
	return clause{"bool": clause{"should": []any{within("location"), within("places.location")}}}, nil
}

// filter leaves out reports that begin after the period or end before it. A report without
// a start or an end is open on that side.
func (p Period) filter() (clause, error) {
	if p.End.Before(p.Start) {
		return nil, fmt.Errorf("the period from %s ends before it starts, at %s", p.Start.Format(time.RFC3339), p.End.Format(time.RFC3339))
	}
	outside := func(field, direction string, t time.Time) clause {
		return clause{"range": clause{field: clause{direction: t.UTC().Format("2006-01-02T15:04:05.999Z")}}}
	}
	return clause{"bool": clause{"must_not": []any{
		outside("starts_at", "gt", p.End), outside("ends_at", "lt", p.Start),
	}}}, nil
}
