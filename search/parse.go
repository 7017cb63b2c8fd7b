package search

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"riskdex/report"
)

// mostKilometres is farther than any two places are from each other.
const mostKilometres = 20_100

// maxWords, in characters, is longer than what people type.
const maxWords = 500

// defaultWithin is how far from a point reports are, in kilometres, where nobody says.
const defaultWithin = 50

// Parse reads a query as it is written in an address, and by the flags of riskdex search:
//
//	q              the words
//	kind, country, threat
//	               any of several, each by itself or separated by commas
//	risk_level     any of several, likewise
//	risk_at_least  1 to 5
//	near           latitude,longitude
//	within_km      from there; 50 if it is not said
//	valid_on       a day in UTC, or a time
//	sort           an Order
//	lang           the language of excerpts
//	from, size     which of the hits
//
// What is empty is as if it was not there. A name that is none of these is a *Mistake, as is a value that
// cannot be.
func Parse(values url.Values) (q Query, err error) {
	within := 0.0
	for name, given := range values {
		all := strings.FieldsFunc(strings.ToValidUTF8(strings.Join(given, ","), ""), func(c rune) bool { return c == ',' || c == ' ' })
		if len(all) == 0 {
			continue
		}
		value := strings.TrimSpace(given[0])
		err = nil
		switch name {
		case "kind":
			for _, text := range all {
				kind, wrong := report.ParseKind(text)
				if wrong != nil {
					return q, mistake("kind: %v", wrong)
				}
				q.Kinds = append(q.Kinds, kind)
			}
			continue
		case "country":
			for _, code := range all {
				q.Countries = append(q.Countries, strings.ToUpper(code))
			}
			continue
		case "threat":
			q.Threats = all
			continue
		case "risk_level":
			for _, text := range all {
				level, wrong := number(name, text)
				if wrong != nil || level < 1 || level > 5 {
					return q, mistake("risk_level is %q, and must be of 1 to 5", text)
				}
				q.Levels = append(q.Levels, level)
			}
			continue
		}
		if len(given) > 1 {
			return q, mistake("%s is there %d times, and may be there once", name, len(given))
		}
		switch name {
		case "q":
			q.Words = value
			if n := utf8.RuneCountInString(value); n > maxWords {
				err = mistake("q has %d characters, and may have %d", n, maxWords)
			}
		case "risk_at_least":
			q.RiskLevel, err = number(name, value)
		case "from":
			q.From, err = number(name, value)
		case "size":
			q.Size, err = number(name, value)
		case "near":
			q.Near, err = parsePoint(value)
		case "within_km":
			if within, err = strconv.ParseFloat(value, 64); err != nil || !(within > 0) || within > mostKilometres {
				err = mistake("within_km is %q, and must be a number of kilometres above 0 and up to %d, which is everywhere", value, mostKilometres)
			}
		case "valid_on":
			q.Valid, err = parsePeriod(value)
		case "sort":
			if q.Sort = Order(value); !slices.Contains(orders(), q.Sort) {
				err = mistake("sort is %q, and must be one of %s, %s, %s and %s", value, Relevance, Newest, Nearest, Risk)
			}
		case "lang":
			q.Language, _, _ = strings.Cut(strings.ToLower(value), "-")
		default:
			err = mistake("there is no parameter %q; docs/search-api.md lists those that there are", name)
		}
		if err != nil {
			return q, err
		}
	}
	switch {
	case q.Near == nil && within != 0:
		return q, mistake("within_km needs near: give the point that it is around")
	case q.Near != nil:
		if q.Near.Kilometres = defaultWithin; within != 0 {
			q.Near.Kilometres = within
		}
	}
	return q, nil
}

func orders() []Order { return []Order{Relevance, Newest, Nearest, Risk} }

func number(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, mistake("%s is %q, and must be a whole number from 0", name, text)
	}
	return n, nil
}

func parsePoint(text string) (*Near, error) {
	latitude, longitude, _ := strings.Cut(text, ",")
	lat, wrong := strconv.ParseFloat(strings.TrimSpace(latitude), 64)
	lon, err := strconv.ParseFloat(strings.TrimSpace(longitude), 64)
	if wrong != nil || err != nil {
		return nil, mistake("near is %q, and must be a latitude and a longitude in degrees, such as 51.5,-0.12", text)
	}
	return &Near{Latitude: lat, Longitude: lon}, nil
}

// parsePeriod parses a day, which means all of it in UTC, or a time.
func parsePeriod(date string) (*Period, error) {
	if day, err := time.Parse(time.DateOnly, date); err == nil {
		return &Period{Start: day, End: day.AddDate(0, 0, 1).Add(-time.Millisecond)}, nil
	}
	at, err := time.Parse(time.RFC3339, date)
	if at = at.UTC(); err != nil || at.Year() > 9999 || at.Year() < 0 {
		return nil, mistake("valid_on is %q, and must be a day such as 2026-07-30, or a time such as 2026-07-30T18:00:00Z", date)
	}
	return &Period{Start: at, End: at}, nil
}
