package samplefeed

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
)

const specialReports = 12

// specialDocument returns the i-th special report: one theme in three cities.
func specialDocument(g grammar, cities []city, i, edition int) document {
	themes := [][2]string{
		{"Road safety after dark", "road"}, {"Fraud against visitors", "scams"}, {"Street marches and how they move", "protest"},
		{"Natural hazards and early warning", "hazards"}, {"Staying healthy on long assignments", "health"}, {"Nightlife and the way home", "night"},
		{"Travelling alone", "solo"}, {"Getting around without a car", "transport"}, {"Manners at work and at table", "customs"},
		{"From the airport to the hotel", "arrive"}, {"Petty crime in busy quarters", "crime"}, {"When the emergency call breaks off", "emergency"},
	}
	title, theme := themes[i%len(themes)][0], themes[i%len(themes)][1]
	d := newDice("special", strconv.Itoa(i))
	doc := document{id: strconv.Itoa(9001 + i), title: "Sample report: " + title}
	if i%3 == 2 {
		doc.id = fmt.Sprintf("special-%d", 9001+i)
	}
	doc.mark = mark("special-reports", doc.id, edition)

	var a article
	var codes []string
	var w writer
	for k := range 3 {
		c := cities[d.n(len(cities))]
		codes = append(codes, c.code)
		w = writer{grammar: g, dice: d, about: c.subject(0)}
		if k == 0 {
			a = article{title: doc.title, summary: w.one("special-intro")}
		}
		a.chapters = append(a.chapters, chapter{c.name, []section{w.section(title, theme, 9), w.section("Observations", "special", 6)}})
	}
	w.finish(&a, "notice", "special-correction", doc.mark, edition > 0)

	published := day(-60 + 3*i + 60*edition)
	switch i % 3 {
	case 0:
		doc.body = record{
			"id": 9001 + i, "title": doc.title, "summary": a.summary, "body": markup(a.chapters), "countries": []any{}, "risk_level": nil,
			"published_at": published.Format(time.RFC3339),
			"file":         base64.StdEncoding.EncodeToString(pdf(plain(a.chapters))), "file_type": "application/pdf",
		}
	case 1:
		doc.body = record{
			"id": 9001 + i, "title": doc.title, "text": plain(a.chapters[:2]), "advice": plain(a.chapters[2:]), "cities": codes,
			"published_at": published.Unix(), "pdf_url": "https://example.org/special/" + doc.id + ".pdf",
		}
	default:
		doc.body = record{
			"id": doc.id, "title": doc.title, "summary": a.summary, "chapters": nested(a.chapters, false), "topics": []string{theme},
			"published_at": published.Format(time.DateOnly), "places": []any{},
		}
	}
	return doc
}
