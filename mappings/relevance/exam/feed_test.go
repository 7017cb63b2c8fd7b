package exam

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"riskdex/report"
)

// drawn is how many events there are beside those of events.tsv.
const drawn = 900

// french and spanish are the countries about whose cities some vendors write in their
// own language.
var (
	french  = []string{"FR", "BE", "SN", "CI", "CM", "CD", "CG", "ML", "BF", "NE", "TG", "BJ", "GN", "TD", "HT", "MG", "DZ", "TN", "MA"}
	spanish = []string{"ES", "MX", "AR", "CL", "CO", "PE", "VE", "EC", "BO", "PY", "UY", "GT", "SV", "HN", "NI", "CR", "PA", "CU", "DO"}
)

// populate gives the world its documents: a report for every city, advisories for every
// country, and events.
func (w *world) populate(t testing.TB) {
	t.Helper()
	english := []*vendor{aurora, aurora, aurora, delta, delta, delta, esker, esker, fjord, fjord}
	for _, c := range w.cities {
		r := luck("vendor", c.id)
		v, lang := pick(r, english), "en"
		switch own := r.IntN(3) == 0; {
		case own && slices.Contains(french, c.country):
			v, lang = boreal, "fr"
		case own && slices.Contains(spanish, c.country):
			v, lang = condor, "es"
		}
		w.add(&fact{kind: report.Cities, topic: aCity, vendor: v, lang: lang, city: c, country: w.countries[c.country]})
	}
	for _, code := range w.codes {
		nation := w.countries[code]
		w.add(&fact{kind: report.Advisories, topic: aNation, vendor: delta, lang: "en", country: nation})
		r := luck("nation", code)
		if r.IntN(3) == 0 {
			w.add(&fact{kind: report.Advisories, topic: aNation, vendor: fjord, lang: "en", country: nation})
		}
		if r.IntN(2) == 0 {
			w.add(&fact{kind: report.Advisories, topic: aNation, vendor: boreal, lang: "fr", country: nation})
		}
		if r.IntN(2) == 0 {
			w.add(&fact{kind: report.Advisories, topic: aNation, vendor: condor, lang: "es", country: nation})
		}
	}
	planted := map[string]bool{}
	for i, row := range table(t, eventsFile) {
		c := w.find(row[2])
		if len(row) != 5 || c == nil || w.prose[row[4]] == nil || w.prose[row[4]][row[0]+" 1"] == nil {
			t.Fatalf("events.tsv: %q is no event of a city in the feed", row)
		}
		wording, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		place := row[3]
		if place == "-" {
			place = ""
		}
		planted[row[0]+c.id] = true
		w.event(luck("planted", fmt.Sprint(i)), row[4], row[0], wording, c, place)
	}
	for i := range drawn {
		r := luck("drawn", fmt.Sprint(i))
		c, lang := w.cities[r.IntN(600)], "en"
		if r.IntN(2) == 0 { // events are more frequent where more people are
			c = w.cities[r.IntN(150)]
		}
		switch other := r.IntN(5) < 2; {
		case other && slices.Contains(french, c.country):
			lang = "fr"
		case other && slices.Contains(spanish, c.country):
			lang = "es"
		}
		threat, place := pick(r, w.prose[lang].threats()), ""
		if r.IntN(2) == 0 {
			place = pick(r, c.areas)
		}
		if !planted[threat+c.id] {
			w.event(r, lang, threat, 1+r.IntN(2), c, place)
		}
	}
}

func (w *world) event(r *rand.Rand, lang, threat string, wording int, c *city, place string) {
	v := pick(r, []*vendor{aurora, delta, esker, fjord})
	switch lang {
	case "fr":
		v = boreal
	case "es":
		v = condor
	}
	kind := report.SpecialReports
	if v == delta || v == boreal { // these call them advisories
		kind = report.Advisories
	}
	w.add(&fact{
		kind: kind, topic: anEvent, vendor: v, lang: lang, city: c, country: w.countries[c.country],
		threat: threat, wording: wording, place: place,
	})
}

func (w *world) add(f *fact) {
	f.id = f.vendor.id(len(w.documents))
	w.documents = append(w.documents, f)
}
