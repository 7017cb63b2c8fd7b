package exam

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// heldOut are vendors whose shapes were written down before the rules that read names were
// last extended. Rules are not made for them: they tell how well the rules do on a feed that
// nobody has seen. They publish nothing into the index that the queries search.
func heldOut() []*vendor { return []*vendor{gannet, heron, ibis} }

// gannet has GeoJSON, as trackers of disasters publish it.
var gannet = &vendor{
	name: "gannet", envelope: "features",
	id: func(n int) string { return strconv.Itoa(1_100_000 + n) },
	record: func(w *world, f *fact, a article) object {
		number, _ := strconv.Atoi(f.id)
		p := object{
			"name": a.title, "description": a.summary, "htmldescription": markup(a.chapters, 2),
			"alertlevel": [...]string{"Green", "Green", "Orange", "Orange", "Red"}[a.level-1], "alertscore": a.level / 2,
			"iso3": f.country.alpha3, "country": f.country.names["en"],
			"affectedcountries": []object{{"iso2": f.country.code, "iso3": f.country.alpha3, "countryname": f.country.names["en"]}},
			"datepublished":     a.issued.Format("2006-01-02T15:04:05"), "datemodified": a.fresh.Format("2006-01-02T15:04:05"),
			"iscurrent": "true", "source": "GANNET", "sourceid": "g-17", "icon": "https://gannet.example/icons/o.png",
			"url": object{"geometry": "https://gannet.example/g/" + f.id, "report": "https://gannet.example/r/" + f.id},
		}
		switch f.topic {
		case anEvent:
			p["eventid"], p["episodeid"], p["eventtype"] = number, 3, categoryOf(f.threat, "en")
			p["fromdate"], p["todate"] = a.start.Format("2006-01-02T15:04:05"), a.end.Format("2006-01-02T15:04:05")
			p["cityname"] = f.city.name
		case aCity:
			p["reportid"] = number
			if f.city.code != "" {
				p["iatacode"] = f.city.code
			}
			p["alternatenames"] = f.city.others
		default:
			p["advisoryid"] = number
		}
		var geometry any
		if f.city != nil {
			geometry = object{"type": "Point", "coordinates": []float64{f.city.lon, f.city.lat}}
		}
		return object{"type": "Feature", "geometry": geometry, "properties": p}
	},
}

// heron has posts of a blog system, with the vendor's own members in a group beside them.
var heron = &vendor{
	name: "heron", envelope: "posts",
	id: func(n int) string { return strconv.Itoa(40_000 + 3*n) },
	record: func(w *world, f *fact, a article) object {
		number, _ := strconv.Atoi(f.id)
		own := object{
			"country_iso": f.country.code, "country_label": f.country.names["en"],
			"risk_level": object{"value": strconv.Itoa(a.level), "label": levels[a.level-1]},
		}
		if f.city != nil {
			own["map"] = object{"address": f.city.name + ", " + f.country.names["en"], "lat": f.city.lat, "lng": f.city.lon, "zoom": 14, "place_id": "ChIJ" + f.city.id}
		}
		switch f.topic {
		case anEvent:
			own["event_start"], own["event_end"] = a.start.Format("20060102"), a.end.Format("20060102")
			own["incident_type"] = object{"term_id": 31, "slug": "x-" + f.threat, "name": categoryOf(f.threat, "en")}
			if f.place != "" {
				own["affected_areas"] = []object{{"area": f.place}}
			}
		case aCity:
			own["city_iata"] = f.city.code
			var gates, areas []object
			for _, code := range f.city.airports {
				gates = append(gates, object{"airport_code": code})
			}
			for _, name := range f.city.areas {
				areas = append(areas, object{"district": name})
			}
			own["airports"], own["districts"] = gates, areas
		}
		a.addRatings(own, "risk_breakdown", "risk_type", "risk_rating", "notes")
		return object{
			"id": number, "date": a.issued.Format("2006-01-02T15:04:05"), "date_gmt": a.issued.Format("2006-01-02T15:04:05"),
			"modified": a.fresh.Format("2006-01-02T15:04:05"), "modified_gmt": a.fresh.Format("2006-01-02T15:04:05"),
			"guid": object{"rendered": "https://heron.example/?p=" + f.id}, "slug": "report-" + f.id, "status": "publish", "type": "post",
			"link": "https://heron.example/report-" + f.id, "author": 7, "featured_media": 911, "categories": []int{4, 19}, "template": "",
			"title":   object{"rendered": strings.ReplaceAll(a.title, "'", "&#8217;")},
			"content": object{"rendered": markup(a.chapters, 2), "protected": false},
			"excerpt": object{"rendered": "<p>" + a.summary + "</p>\n", "protected": false},
			"acf":     own,
		}
	},
}

// ibis has nodes of a content system, whose members its editors named in German.
var ibis = &vendor{
	name: "ibis", envelope: "data",
	id: func(n int) string { return fmt.Sprintf("%08x-3c1d-4f6e-9b1a-%012x", n*7919, n) },
	record: func(w *world, f *fact, a article) object {
		attributes := object{
			"drupal_internal__nid": 900 + a.level, "drupal_internal__vid": 5000, "langcode": "de", "status": true, "title": a.title,
			"created": a.issued.Format(time.RFC3339), "changed": a.fresh.Format(time.RFC3339), "promote": false, "sticky": false,
			"path":                   object{"alias": "/berichte/" + f.id, "pid": 77, "langcode": "de"},
			"body":                   object{"value": markup(a.chapters, 2), "format": "full_html", "processed": markup(a.chapters, 2), "summary": a.summary},
			"field_risikostufe":      a.level,
			"field_laendercode":      f.country.code,
			"field_stand":            a.fresh.Format("02.01.2006"),
			"field_redaktionsnummer": "R-17",
		}
		kind := map[topic]string{aCity: "node--stadtbericht", aNation: "node--reisehinweis", anEvent: "node--ereignis"}[f.topic]
		if f.city != nil {
			attributes["field_koordinaten"] = object{"lat": f.city.lat, "lng": f.city.lon, "lat_sin": 0.5, "lat_cos": 0.8, "lng_rad": 1.1, "data": nil}
		}
		switch f.topic {
		case anEvent:
			attributes["field_gueltigkeit"] = object{"value": a.start.Format(time.DateOnly), "end_value": a.end.Format(time.DateOnly)}
			attributes["field_stadt"] = f.city.name
			if f.place != "" {
				attributes["field_betroffene_orte"] = []string{f.place}
			}
		case aCity:
			attributes["field_iata_code"] = f.city.code
			attributes["field_flughaefen"] = f.city.airports
			attributes["field_stadtteile"] = f.city.areas
			attributes["field_andere_namen"] = f.city.others
		}
		a.addRatings(attributes, "field_gefahren", "art", "stufe", "beschreibung")
		return object{
			"type": kind, "id": f.id, "links": object{"self": object{"href": "https://cms.ibis.example/jsonapi/" + f.id}}, "attributes": attributes,
			"relationships": object{"uid": object{"data": object{"type": "user--user", "id": "11111111-2222-3333-4444-555555555555"}}},
		}
	},
}
