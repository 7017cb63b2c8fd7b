package exam

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"riskdex/receiver"
	"riskdex/report"
)

// object is a JSON object.
type object = map[string]any

// vendor is an invented publisher with a record shape of its own.
type vendor struct {
	name     string
	taught   receiver.Config // what its operator would tell the receiver
	id       func(n int) string
	record   func(w *world, f *fact, a article) object
	envelope string // the member that has the records
}

func vendors() []*vendor { return []*vendor{aurora, boreal, condor, delta, esker, fjord} }

// all returns the same pointers for every kind.
func all(pointers ...string) map[report.Kind][]string {
	m := map[report.Kind][]string{}
	for _, kind := range report.Kinds() {
		m[kind] = pointers
	}
	return m
}

// aurora has names in Pascal case and in capitals, texts in a map of languages, and [lon, lat].
var aurora = &vendor{
	name: "aurora", envelope: "ReportList",
	taught: receiver.Config{IDs: all("/cityReportId", "/AlertId"), Codes: []string{"/IataCode"}, Records: all("/ReportList")},
	id:     func(n int) string { return strconv.Itoa(70_000 + n) },
	record: func(w *world, f *fact, a article) object {
		number, _ := strconv.Atoi(f.id)
		names := object{"en": f.city.name}
		if luck("names", f.city.id).IntN(5) < 3 {
			for lang, script := range map[string]func(rune) bool{"ru": isCyrillic, "zh": isHan, "ar": isArabic} {
				if name := written(f.city.others, script); name != "" {
					names[lang] = name
				}
			}
		}
		o := object{
			"CityName": names, "CountryCode": f.country.code, "RISK_LEVEL": a.level, "Coordinates": []float64{f.city.lon, f.city.lat},
			"PublishedOn": a.issued.Format(time.RFC3339), "RevisedOn": a.fresh.Format(time.RFC3339),
			"PageLink": "https://reports.aurora.example/" + f.id,
		}
		var areas []object
		if f.topic == anEvent {
			o["AlertId"], o["HeadLine"], o["IncidentCategory"] = number, object{"en": a.title}, categoryOf(f.threat, "en")
			o["Synopsis"], o["Narrative"] = object{"en": a.summary}, object{"en": paragraphs(a.chapters)}
			o["OccursFrom"], o["OccursTo"] = a.start.Format(time.DateOnly), a.end.Format(time.DateOnly)
			if f.place != "" {
				areas = append(areas, object{"AreaName": f.place})
			}
		} else {
			o["cityReportId"], o["Synopsis"] = number, object{"en": a.summary}
			if f.city.code != "" {
				o["IataCode"] = f.city.code
			}
			if len(f.city.airports) > 0 {
				o["AirportList"] = strings.Join(f.city.airports, ", ")
			}
			var ratings, knowledge []object
			for _, r := range a.ratings {
				ratings = append(ratings, object{"category": r.category, "rating": r.level, "comment": object{"en": r.comment}})
			}
			for _, c := range a.chapters {
				knowledge = append(knowledge, object{"topic": c.heading, "advice": object{"en": strings.Join(c.sentences, " ")}})
			}
			o["threatRatings"], o["localKnowledge"] = ratings, knowledge
			for _, name := range f.city.areas {
				areas = append(areas, object{"AreaName": name})
			}
		}
		if areas != nil {
			o["KeyAreas"] = areas
		}
		return o
	},
}

// boreal has French names of members and HTML.
var boreal = &vendor{
	name: "boreal", envelope: "fiches",
	taught: receiver.Config{IDs: all("/identifiant"), Codes: []string{"/codeAita"}, Records: all("/fiches")},
	id:     func(n int) string { return fmt.Sprintf("FICHE-2026-%05d", n) },
	record: func(w *world, f *fact, a article) object {
		o := object{
			"identifiant": f.id, "titre": a.title, "pays": f.country.names["fr"],
			"niveauDeRisque": [...]string{"faible", "modéré", "accru", "élevé", "extrême"}[a.level-1],
			"resume":         a.summary, "corps": markup(a.chapters, 2),
			"datePublication": a.issued.Format("2006-01-02 15:04:05"), "dateMiseAJour": a.fresh.Format("2006-01-02 15:04:05"),
		}
		if luck("code", f.id).IntN(10) < 7 {
			o["codePays"] = f.country.code
		}
		if f.city != nil {
			o["ville"] = f.city.name
			o["coordonnees"] = []float64{f.city.lon, f.city.lat}
			if f.city.code != "" {
				o["codeAita"] = f.city.code
			}
		}
		switch f.topic {
		case anEvent:
			delete(o, "codeAita") // an event in a city is not the city
			o["rubrique"], o["dateDebut"], o["dateFin"] = categoryOf(f.threat, "fr"), a.start.Format(time.DateOnly), a.end.Format(time.DateOnly)
			if f.place != "" {
				o["lieu"] = f.place
			}
		case aCity:
			o["quartiers"] = f.city.areas
			o["aeroports"] = f.city.airports
		}
		a.addRatings(o, "risques", "rubrique", "niveau", "texte")
		return o
	},
}

// addRatings adds the ratings of an article to a record, as a list and with members that have a
// vendor's names. Without ratings it adds nothing.
func (a article) addRatings(to object, list, category, level, comment string) {
	var all []object
	for _, r := range a.ratings {
		all = append(all, object{category: r.category, level: r.level, comment: r.comment})
	}
	if all != nil {
		to[list] = all
	}
}

// condor has Spanish names of members and [lat, lon].
var condor = &vendor{
	name: "condor", envelope: "data",
	taught: receiver.Config{Codes: []string{"/ciudad/codigo_iata"}},
	id:     func(n int) string { return strconv.Itoa(5_000 + n) },
	record: func(w *world, f *fact, a article) object {
		number, _ := strconv.Atoi(f.id)
		var chapters []object
		for _, c := range a.chapters {
			chapters = append(chapters, object{"apartado": c.heading, "texto": strings.Join(c.sentences, " ")})
		}
		o := object{
			"id": number, "titulo": a.title, "pais": object{"nombre": f.country.names["es"], "iso3": f.country.alpha3},
			"nivel_riesgo": [...]string{"bajo", "moderado", "medio", "alto", "extremo"}[a.level-1],
			"resumen":      a.summary, "contenido": chapters,
			"fecha_publicacion": a.issued.Format(time.DateOnly), "fecha_actualizacion": a.fresh.Format(time.DateOnly),
		}
		if f.city != nil {
			own := object{"nombre": f.city.name}
			if f.topic == aCity && f.city.code != "" {
				own["codigo_iata"] = f.city.code
			}
			o["ciudad"], o["ubicacion"] = own, object{"coordenadas": []float64{f.city.lat, f.city.lon}}
		}
		var areas []object
		switch f.topic {
		case anEvent:
			o["categoria"] = categoryOf(f.threat, "es")
			o["vigencia"] = object{"desde": a.start.Format(time.DateOnly), "hasta": a.end.Format(time.DateOnly)}
			if f.place != "" {
				areas = append(areas, object{"nombre": f.place})
			}
		case aCity:
			o["aeropuertos"] = f.city.airports
			for _, name := range f.city.areas {
				areas = append(areas, object{"nombre": name})
			}
		}
		if areas != nil {
			o["zonas"] = areas
		}
		a.addRatings(o, "amenazas", "tipo", "nivel", "detalle")
		return o
	},
}

// delta has JSON:API with dashes in its names, other names of cities and alpha-3 codes.
var delta = &vendor{
	name: "delta", envelope: "data",
	taught: receiver.Config{Codes: []string{"/attributes/iata-city"}},
	id:     func(n int) string { return fmt.Sprintf("dlt-%d", n) },
	record: func(w *world, f *fact, a article) object {
		attributes := object{
			"name": a.title, "iso3": f.country.alpha3, "abstract": a.summary, "body-html": markup(a.chapters, 3),
			"severity":  object{"score": a.level, "scale": 5, "text": levels[a.level-1]},
			"issued-on": a.issued.Format(time.RFC3339), "revised-on": a.fresh.Format(time.RFC3339),
		}
		if f.city != nil {
			attributes["geo"] = object{"type": "Point", "coordinates": []float64{f.city.lon, f.city.lat}}
		}
		var quarters []object
		switch f.topic {
		case anEvent:
			attributes["topic"] = categoryOf(f.threat, "en")
			attributes["window"] = object{"opens": a.start.Format(time.DateOnly), "closes": a.end.Format(time.DateOnly)}
			attributes["affected-city"] = f.city.name
			if f.place != "" {
				quarters = append(quarters, object{"name": f.place})
			}
		case aCity:
			if f.city.code != "" {
				attributes["iata-city"] = f.city.code
			}
			attributes["airport-codes"], attributes["also-known-as"] = f.city.airports, f.city.others
			for _, name := range f.city.areas {
				quarters = append(quarters, object{"name": name})
			}
		}
		if quarters != nil {
			attributes["neighbourhoods"] = quarters
		}
		a.addRatings(attributes, "threats", "kind", "score", "note")
		return object{
			"type": "document", "id": f.id, "attributes": attributes, "links": object{"self": "https://api.delta.example/v2/" + f.id},
		}
	},
}

// esker has labels and values.
var esker = &vendor{
	name: "esker", envelope: "items",
	id: func(n int) string { return fmt.Sprintf("E%06d", n*37) },
	record: func(w *world, f *fact, a article) object {
		var fields []object
		field := func(label, value string) {
			if value != "" {
				fields = append(fields, object{"label": label, "value": value})
			}
		}
		heading := a.title
		if f.topic == aCity {
			heading = f.city.name + ", " + f.country.names["en"]
		}
		field("City", f.city.name)
		field("Country", f.country.names["en"])
		if f.topic == aCity {
			field("IATA code", f.city.code)
			field("Airports", strings.Join(f.city.airports, " "))
			field("Districts", strings.Join(f.city.areas, "; "))
		} else {
			field("Type of incident", categoryOf(f.threat, "en"))
			field("Where", f.place)
			field("From", a.start.Format(time.DateOnly))
			field("To", a.end.Format(time.DateOnly))
		}
		field("Overall risk", fmt.Sprintf("%s (%d/5)", levels[a.level-1], a.level))
		field("Latitude", fmt.Sprint(f.city.lat))
		field("Longitude", fmt.Sprint(f.city.lon))
		field("Summary", a.summary)
		for _, r := range a.ratings {
			field(r.category, fmt.Sprintf("%s. %s", levels[r.level-1], r.comment))
		}
		for _, c := range a.chapters {
			field(c.heading, strings.Join(c.sentences, " "))
		}
		return object{"id": f.id, "heading": heading, "fields": fields, "updated": a.fresh.Unix()}
	},
}

// fjord has chapters within chapters, HTML, and "lat,lon".
var fjord = &vendor{
	name: "fjord", envelope: "documents",
	taught: receiver.Config{IDs: all("/uid"), Codes: []string{"/doc/destination/iata"}, Records: all("/documents")},
	id:     func(n int) string { return fmt.Sprintf("%012x", uint64(n+1)*0x9e3779b97f4a%(1<<48)) },
	record: func(w *world, f *fact, a article) object {
		destination := object{"country": object{"name": f.country.names["en"], "iso3": f.country.alpha3}}
		var chapters []object
		for _, c := range a.chapters {
			half := (len(c.sentences) + 1) / 2
			chapters = append(chapters, object{
				"heading": c.heading, "html": markup([]chapter{{"", c.sentences[:half]}}, 2),
				"children": []object{{"heading": "More", "html": markup([]chapter{{"", c.sentences[half:]}}, 3)}},
			})
		}
		var topics []object
		for _, r := range a.ratings {
			topics = append(topics, object{"heading": r.category, "html": "<p>" + html.EscapeString(r.comment) + "</p>", "score": r.level})
		}
		if topics != nil {
			chapters = append(chapters, object{"heading": "Risks", "children": topics})
		}
		doc := object{
			"headline": a.title, "destination": destination, "intro": "<p>" + html.EscapeString(a.summary) + "</p>", "chapters": chapters,
			"risk": object{"overall": object{"score": a.level, "of": 5}}, "issued": a.issued.Format(time.RFC1123Z), "revised": a.fresh.Format(time.RFC3339),
		}
		if f.city != nil {
			destination["city"], destination["pos"] = f.city.name, fmt.Sprintf("%g,%g", f.city.lat, f.city.lon)
		}
		switch f.topic {
		case anEvent:
			doc["valid"] = object{"from": a.start.Format(time.DateOnly), "to": a.end.Format(time.DateOnly)}
			doc["tags"] = []string{categoryOf(f.threat, "en")}
			if f.place != "" {
				destination["spot"] = f.place
			}
		case aCity:
			if f.city.code != "" {
				destination["iata"], destination["gateways"] = f.city.code, f.city.airports
			}
			destination["quarters"] = f.city.areas
		}
		return object{"uid": f.id, "doc": doc}
	},
}

var levels = []string{"Low", "Moderate", "Elevated", "High", "Extreme"}

func paragraphs(chapters []chapter) string {
	var b strings.Builder
	for _, c := range chapters {
		b.WriteString(c.heading + "\n\n" + strings.Join(c.sentences, " ") + "\n\n")
	}
	return b.String()
}

// markup writes chapters as HTML, with n sentences in a paragraph.
func markup(chapters []chapter, n int) string {
	var b strings.Builder
	for _, c := range chapters {
		if c.heading != "" {
			b.WriteString("<h2>" + html.EscapeString(c.heading) + "</h2>")
		}
		for i := 0; i < len(c.sentences); i += n {
			b.WriteString("<p>" + html.EscapeString(strings.Join(c.sentences[i:min(i+n, len(c.sentences))], " ")) + "</p>")
		}
	}
	return b.String()
}

// written returns the first name that begins in a script.
func written(names []string, script func(rune) bool) string {
	for _, name := range names {
		if first, _ := utf8.DecodeRuneInString(name); script(first) {
			return name
		}
	}
	return ""
}

func isCyrillic(r rune) bool { return r >= 0x400 && r < 0x530 }
func isHan(r rune) bool      { return r >= 0x4e00 && r < 0xa000 }
func isArabic(r rune) bool   { return r >= 0x600 && r < 0x780 }
