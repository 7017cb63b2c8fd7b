package samplefeed

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	advisories     = 36
	advisoryShapes = 4
)

// advisoryDocument returns the i-th advisory: an invented situation in and
// around one of the cities.
func advisoryDocument(g grammar, cities []city, i, edition int) document {
	themes := []string{"strike", "election", "cyclone", "unrest", "event", "flood", "airspace", "heat", "fuel"}
	theme := themes[i%len(themes)]
	d := newDice("advisory", strconv.Itoa(i))
	c := cityFor(d, cities, theme)
	neighbour := cities[d.n(len(cities))]
	start := day(-20 + d.n(60))
	end := start.AddDate(0, 0, 3+d.n(25))
	about := c.subject(0)
	about.facts["start"], about.facts["end"] = start.Format("2 January 2006"), end.Format("2 January 2006")

	doc := document{id: strconv.Itoa(5001 + i)}
	switch i % advisoryShapes {
	case 1:
		doc.id = fmt.Sprintf("advisory-%04d", 5001+i)
	case 3: // an id that a path can carry only percent-encoded
		doc.id = fmt.Sprintf("ADV 2026/%02d", i)
	}
	doc.mark = mark("advisories", doc.id, edition)
	w := writer{grammar: g, dice: d, about: about}
	doc.title = w.one(theme + "-title")
	a := article{title: doc.title, summary: "Sample summary: " + w.one(theme)}
	for _, part := range [][2]string{{"Situation", theme}, {"Background", "background"}, {"Outlook", "outlook"}, {"Measures", "measures"}} {
		a.chapters = append(a.chapters, chapter{part[0], []section{w.section(part[0]+" in "+c.name, part[1], 8)}})
	}
	a.chapters = append(a.chapters, chapter{"Around it", []section{w.section("Roads", "road", 6), w.section("Transport", "transport", 6), w.section("Emergencies", "emergency", 5)}})
	w.finish(&a, "notice", "advisory-correction", doc.mark, edition > 0)
	doc.body = advisoryRecord(i, doc, a, situation{c, neighbour, theme, start, end, 1 + d.n(5), day(-12 + i/4 + 15*edition)})
	return doc
}

// cityFor draws a city where the theme is plausible.
func cityFor(d *dice, cities []city, theme string) city {
	for {
		c := cities[d.n(len(cities))]
		tags := " " + strings.Join(c.tags, " ") + " "
		if theme != "cyclone" || strings.Contains(tags, " cyclone ") && strings.Contains(tags, " coast ") {
			return c
		}
	}
}

// situation has the facts of an advisory.
type situation struct {
	city, neighbour city
	theme           string
	start, end      time.Time
	level           int
	published       time.Time
}

func advisoryRecord(i int, doc document, a article, s situation) record {
	c := s.city
	switch i % advisoryShapes {
	case 0:
		return record{
			"id": 5001 + i, "title": doc.title, "type": s.theme, "risk_level": s.level, "countries": []string{c.country},
			"cities":   []any{record{"name": c.name, "code": c.code}, record{"name": s.neighbour.name, "code": s.neighbour.code}},
			"regions":  []any{record{"name": "Greater " + c.name, "code": c.country + "-01"}},
			"duration": record{"start_date": s.start.Format(time.DateOnly), "end_date": s.end.Format(time.DateOnly)},
			"places":   []any{record{"name": c.name, "geo": record{"lat": c.lat, "lng": c.lng}}},
			"summary":  a.summary, "body": markup(a.chapters), "published_at": s.published.Format(time.RFC3339), "attachments": []any{},
		}
	case 1: // to be sent as {"data": …}
		return record{"type": "advisory", "id": doc.id, "attributes": record{
			"title": doc.title, "country": strings.ToLower(c.country), "risk_level": record{"id": strconv.Itoa(s.level), "name": label(s.level)},
			"text": plain(a.chapters[:3]), "advice": plain(a.chapters[3:]), "summary": nil, "regions": []any{},
			"duration":  record{"start_date": s.start.Unix(), "end_date": s.end.Unix()},
			"locations": featureCollection([]keyPlace{{name: c.name, kind: "centre", lat: c.lat, lng: c.lng}}), "published_at": s.published.Unix(),
		}}
	case 2:
		return record{
			"id": 5001 + i, "title": doc.title, "country": c.country, "risk_level": label(s.level), "body": plain(a.chapters), "summary": a.summary,
			"area": record{"type": "Polygon", "coordinates": []any{square(c.lat, c.lng)}}, "places": []any{},
			"duration":     record{"start_date": s.start.Format(time.RFC3339), "end_date": nil},
			"published_at": s.published.Format(time.DateOnly),
		}
	default:
		return record{
			"id": doc.id, "title": doc.title, "country": strings.ToLower(c.country), "risk_level": nil, "summary": a.summary,
			"lat": text(c.lat), "lng": text(c.lng), "cities": []any{record{"name": c.name, "code": c.code}}, "regions": nil,
			"chapters":     nested(a.chapters, true),
			"duration":     record{"start_date": s.start.Format(time.DateOnly), "end_date": s.end.Format(time.DateOnly)},
			"published_at": s.published.Format(time.RFC3339), "file": "", "links": []string{"https://example.org/advisories/" + strconv.Itoa(i)},
		}
	}
}

// square returns a closed ring around a point, half a degree wide, in GeoJSON order.
func square(lat, lng float64) [][]float64 {
	const half = 0.25
	corner := func(x, y float64) []float64 { return []float64{rounded(lng + x), rounded(lat + y)} }
	return [][]float64{corner(-half, -half), corner(half, -half), corner(half, half), corner(-half, half), corner(-half, -half)}
}
