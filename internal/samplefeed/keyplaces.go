package samplefeed

import (
	"fmt"
	"math"
	"strconv"
)

// keyPlace is one entry of a city's map. Names and addresses are invented; the
// position is near the city's own.
type keyPlace struct {
	name, kind, address string
	lat, lng            float64
}

func keyPlaces(w writer, c city, corrected bool) []keyPlace {
	kinds := [][2]string{
		{"Central Hospital", "hospital"}, {"General Hospital {district}", "hospital"}, {"Clinic {street}", "clinic"},
		{"Pharmacy {street}", "pharmacy"}, {"Police Post {district}", "police"}, {"Police Headquarters", "police"},
		{"Main Station", "station"}, {"Coach Station {district}", "station"}, {"Consular Quarter", "embassies"},
		{"Hotel {district}", "hotel"}, {"Meeting point: {landmark}", "landmark"}, {"Fire Station {street}", "fire station"},
		{"Stalls: {market}", "market"}, {"Bank on {street}", "bank"}, {"Immigration Office", "authority"}, {"Assembly point {street}", "assembly point"},
	}
	places := make([]keyPlace, 0, len(kinds)+len(c.airports))
	add := func(name, kind string, spread int) {
		off := func() float64 { return float64(w.dice.n(2*spread)-spread) / 1e5 }
		places = append(places, keyPlace{
			name: name, kind: kind,
			address: fmt.Sprintf("%d %s, %s", 1+w.dice.n(180), w.one("street"), w.one("district")),
			lat:     rounded(c.lat + off()), lng: rounded(c.lng + off()),
		})
	}
	for _, k := range kinds {
		add(w.grammar.expand(w.dice, w.about, k[0]), k[1], 2800)
	}
	for _, code := range c.airports {
		add("Transfer desk for airport "+code, "airport transfer", 4000)
	}
	if corrected {
		places[0].address = "Corrected entrance: " + places[1].address
	}
	return places
}

// rounded rounds to five decimals, about a metre.
func rounded(degrees float64) float64 { return math.Round(degrees*1e5) / 1e5 }

func text(degrees float64) string { return strconv.FormatFloat(degrees, 'f', -1, 64) }

func point(lat, lng float64) record {
	return record{"type": "Point", "coordinates": []float64{lng, lat}}
}

// withGeo lists the places with geo: {lat, lng}.
func withGeo(places []keyPlace) []any {
	var out []any
	for _, p := range places {
		out = append(out, record{"name": p.name, "category": p.kind, "address": p.address, "geo": record{"lat": p.lat, "lng": p.lng}, "phone": nil})
	}
	return out
}

// withStrings lists the places with lat and lng beside each other, as strings.
func withStrings(places []keyPlace) []any {
	var out []any
	for _, p := range places {
		out = append(out, record{"title": p.name, "type": p.kind, "street": p.address, "lat": text(p.lat), "lng": text(p.lng), "url": ""})
	}
	return out
}

// featureCollection lists the places as GeoJSON.
func featureCollection(places []keyPlace) record {
	var out []any
	for _, p := range places {
		out = append(out, record{
			"type": "Feature", "geometry": point(p.lat, p.lng),
			"properties": record{"name": p.name, "kind": p.kind, "address": p.address},
		})
	}
	return record{"type": "FeatureCollection", "features": out}
}
