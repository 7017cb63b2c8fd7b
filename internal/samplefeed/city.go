package samplefeed

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// cityShapes is the number of shapes that a city's record may have.
const cityShapes = 6

// document is one document of the feed, in one edition.
type document struct {
	id, code, title string
	mark            string
	body            record
}

// cityDocument returns the report of the i-th city. Edition 0 is the one that
// is created, edition 1 the one that corrects it.
func cityDocument(g grammar, c city, i, edition int) document {
	doc := document{id: strconv.Itoa(101 + i), code: c.code, title: c.name}
	if i%cityShapes == 4 {
		doc.id = "city-" + strings.ToLower(c.code)
	}
	doc.mark = mark("cities", doc.id, edition)
	w := writer{grammar: g, dice: newDice("city", c.code), about: c.subject(16 + len(c.airports))}
	places := keyPlaces(w, c, edition > 0)
	level := 1 + w.dice.n(5)
	published := day(-30 - w.dice.n(400))
	a := w.city(doc.mark, edition > 0)
	doc.body = cityRecord(i, c, doc, a, places, level, published, day(2*edition-1))
	if i%50 == 7 { // a whole document in a field that is not for reading
		doc.body["file"] = base64.StdEncoding.EncodeToString(pdf(plain(a.chapters)))
		doc.body["file_name"] = "sample-" + c.code + ".pdf"
	}
	return doc
}

// cityRecord returns the report of the i-th city in the shape that i gives it.
func cityRecord(i int, c city, doc document, a article, places []keyPlace, level int, published, updated time.Time) record {
	number := 101 + i
	switch i % cityShapes {
	case 0: // nested chapters in HTML, a level as a number
		return record{
			"id": number, "code": c.code, "title": c.name, "country": c.country, "risk_level": level,
			"geo": record{"lat": c.lat, "lng": c.lng}, "airports": c.airports, "aliases": orEmpty(c.aliases), "summary": a.summary,
			"chapters": nested(a.chapters, true), "map": record{"places": withGeo(places), "zoom": 13},
			"published_at": published.Format(time.RFC3339), "updated_at": updated.Format(time.RFC3339),
			"image": "https://example.org/images/" + strings.ToLower(c.code) + ".jpg", "tags": []any{}, "subtitle": nil,
		}
	case 1: // one plain body, a label, everything as strings
		return record{
			"id": number, "code": c.code, "name": c.name, "country": strings.ToLower(c.country), "risk_level": label(level),
			"lat": text(c.lat), "lng": text(c.lng), "airports": strings.Join(c.airports, ","),
			"also_known_as": strings.Join(c.aliases, ", "), "summary": a.summary, "body": plain(a.chapters), "places": withStrings(places),
			"published_at": published.Format(time.DateOnly), "updated_at": updated.Format(time.DateOnly), "image": "", "links": []any{},
		}
	case 2: // JSON:API, GeoJSON, a level as an object
		return record{
			"type": "city-report", "id": doc.id, "attributes": record{
				"name": c.name, "code": c.code, "country": c.country, "risk_level": record{"id": strconv.Itoa(level), "name": label(level)},
				"location": point(c.lat, c.lng), "airports": c.airports, "other_names": orEmpty(c.aliases),
				"text": markup(a.chapters[:2]), "advice": markup(a.chapters[2:]), "summary": a.summary, "map": featureCollection(places),
				"published_at": published.Unix(), "updated_at": updated.Unix(),
			},
			"relationships": record{"author": record{"data": nil}}, "links": record{"pdf": "https://example.org/reports/" + doc.id + ".pdf"},
		}
	case 3: // text and advice in plain words, no level, Unix seconds
		return record{
			"id": number, "code": strings.ToLower(c.code), "city": c.name, "country": c.country, "risk_level": nil,
			"geo": record{"lat": text(c.lat), "lng": text(c.lng)}, "airports": strings.Join(c.airports, ", "), "aliases": orNil(c.aliases),
			"text": plain(a.chapters[:2]), "advice": plain(a.chapters[2:]), "summary": "", "places": withGeo(places),
			"published_at": published.Unix(), "updated_at": updated.Unix(), "videos": nil,
		}
	case 4: // an id in words, HTML in body
		return record{
			"id": doc.id, "code": c.code, "title": c.name, "country": strings.ToLower(c.country), "risk": label(level),
			"location": point(c.lat, c.lng), "airports": c.airports, "aliases": orEmpty(c.aliases), "summary": a.summary,
			"body": markup(a.chapters), "key_locations": withStrings(places),
			"published_at": published.Format(time.RFC3339), "updated_at": updated.In(time.FixedZone("", 2*60*60)).Format(time.RFC3339),
		}
	default: // nested chapters in plain words, a level as an object with a number
		return record{
			"id": number, "code": c.code, "title": c.name, "country": c.country, "risk": record{"id": level, "name": label(level)},
			"lat": c.lat, "lng": c.lng, "airports": c.airports, "aliases": orEmpty(c.aliases), "summary": a.summary,
			"chapters": nested(a.chapters, false), "map": featureCollection(places),
			"published_at": published.Format(time.DateOnly), "updated_at": updated.Format(time.RFC3339), "regions": []any{}, "note": "",
		}
	}
}

// orEmpty returns names as an array even if there are none; orNil returns nil then.
func orEmpty(names []string) []string { return append([]string{}, names...) }

func orNil(names []string) any {
	if len(names) == 0 {
		return nil
	}
	return names
}
