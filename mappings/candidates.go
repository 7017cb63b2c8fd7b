package mappings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// Candidate is a column that nothing reads, and that may be a field that records seem not to have.
type Candidate struct {
	Field    string
	At       jsontext.Value // as a mapping file has it: a pointer, or an object with some
	Records  int            // that have it
	Examples []string
	Why      string // what speaks for it

	rank float64
}

const mostCandidates = 3 // of one field

// candidates returns columns that may be the fields, the likeliest first. None is certain, or it would be
// read: they are for a person to choose from.
func (in *inference) candidates(fields []string) (all []Candidate) {
	for _, field := range fields {
		var some []Candidate
		if field == "location" {
			some = in.positionCandidates()
		}
		for _, c := range in.scalars {
			if c.of.n == 0 || in.taken[c] != "" || in.share(c) < 0.3 || c.of.markup > 0.2 {
				continue
			}
			if why, rank, ok := in.mayBe(field, c); ok {
				some = append(some, in.candidate(field, c, c.pattern(), why, rank))
			}
		}
		slices.SortStableFunc(some, func(a, b Candidate) int { return cmp.Compare(b.rank, a.rank) })
		all = append(all, some[:min(len(some), mostCandidates)]...)
	}
	return all
}

// mayBe reports whether a column may be a field, why, and how much speaks for it.
func (in *inference) mayBe(field string, c *column) (why string, rank float64, ok bool) {
	v, named := &c.of, 0.0
	called := map[string]string{
		"title": "title name label city", "country": "country iso", "risk_level": "risk level rating severity threat security", "published_at": "published created date",
		"updated_at": "updated", "starts_at": "start valid event", "ends_at": "end",
	}[field]
	if called != "" && in.has(c, called) {
		named = 1
	}
	switch field {
	case "title":
		ok = c.isPlain() && v.letters > 0.9 && v.length >= 3 && v.length < 160 && v.prose < 0.3 && 2*v.distinct >= v.n && (v.spaced > 0.3 || named > 0 || in.kind == report.Cities)
		return fmt.Sprintf("words, different in %d of %d", v.distinct, v.n), named + in.share(c) + v.spaced/2, ok
	case "country":
		share := c.shareThat(func(s string) bool { return in.countriesOf(s) != nil })
		return fmt.Sprintf("%.0f %% of its values are countries", 100*share), named + share, share > 0.3
	case "risk_level":
		scale, is := in.scaleOf(c, true)
		_, dated := in.dates[c]
		ok = c.isPlain() && !dated && v.distinct > 1 && v.distinct <= 12 && 3*v.distinct <= 2*v.n && v.length <= 40 && (named > 0 || is && scale.worded || v.numbers < 0.5 && v.distinct >= 3)
		rank = named + in.share(c)
		if is {
			rank++
		}
		return fmt.Sprintf("%d different values", v.distinct), rank, ok
	case "published_at", "updated_at", "starts_at", "ends_at":
		_, is := in.dates[c]
		return "dates, by its name", in.share(c), is && named > 0
	}
	return "", 0, false
}

// positionCandidates returns pairs of numbers that may be a position, and columns with two numbers in each
// value.
func (in *inference) positionCandidates() (all []Candidate) {
	pairs, single := in.positions()
	for _, p := range pairs {
		if in.taken[p.lat] != "" || in.taken[p.lon] != "" || in.has(p.lat, "lon") || in.has(p.lon, "lat") || !p.lat.isPlain() || !p.lon.isPlain() {
			continue
		}
		fit, points := 0, in.pointsOf(p)
		for _, at := range points {
			if at.verdict() == fits {
				fit++
			}
		}
		if 10*fit < 9*len(points) {
			continue // a latitude has at most 90 degrees
		}
		rank := in.share(p.lat)
		if in.has(p.lat, "lat") {
			rank++
		}
		at, lon := p.lat.pattern(), p.lon.pattern()
		at.lon = &lon
		all = append(all, in.candidate("location", p.lat, at, "two numbers beside each other", rank))
	}
	for _, c := range single {
		if in.taken[c] == "" && c.isPlain() {
			all = append(all, in.candidate("location", c, c.pattern(), "two numbers", in.share(c)))
		}
	}
	return all
}

func (in *inference) candidate(field string, c *column, at pattern, why string, rank float64) Candidate {
	of := Candidate{Field: field, Records: c.records, Why: why, rank: rank - 0.1*float64(c.of.unknown) - 0.05*float64(c.depth())}
	of.At, _ = json.Marshal(at) // which never fails
	for _, v := range c.cells {
		if text := strings.TrimSpace(v.text); !slices.Contains(of.Examples, text) && len(of.Examples) < maxExamples {
			of.Examples = append(of.Examples, text)
		}
	}
	if in.isForeign(c) {
		of.rank--
	}
	return of
}
