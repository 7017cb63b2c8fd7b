package exam

import (
	"embed"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/prose
var proseFiles embed.FS

// wording is one way to write about a subject: titles, sentences, and remarks for the
// report of a city where nothing has happened.
type wording struct{ titles, sentences, remarks []string }

// prose are the wordings of one language by subject, such as "strike 1".
type prose map[string]*wording

func proses(t testing.TB) map[string]prose {
	t.Helper()
	all := map[string]prose{}
	for _, lang := range []string{"en", "fr", "es"} {
		data, err := proseFiles.ReadFile("testdata/prose/" + lang + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		p := prose{}
		var current *wording
		for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
			switch {
			case strings.HasPrefix(line, "T "):
				current.titles = append(current.titles, line[2:])
			case strings.HasPrefix(line, "S "):
				current.sentences = append(current.sentences, line[2:])
			case strings.HasPrefix(line, "C "):
				current.remarks = append(current.remarks, line[2:])
			case strings.HasSuffix(line, " 1"), strings.HasSuffix(line, " 2"):
				current = new(wording)
				p[line] = current
			default:
				t.Fatalf("prose/%s.txt:%d: %q", lang, i+1, line)
			}
		}
		all[lang] = p
	}
	return all
}

// threats are the subjects of events in a language, in order.
func (p prose) threats() []string {
	var all []string
	for _, name := range categories {
		if p[name.threat+" 1"] != nil {
			all = append(all, name.threat)
		}
	}
	return all
}

// of returns the n-th wording of a subject, or the first if there is no n-th.
func (p prose) of(subject string, n int) *wording {
	if found := p[fmt.Sprintf("%s %d", subject, n)]; found != nil {
		return found
	}
	return p[subject+" 1"]
}

// categories are what vendors call the threats.
var categories = []struct{ threat, en, fr, es string }{
	{"strike", "Strikes", "Mouvements sociaux", "Huelgas"},
	{"unrest", "Civil unrest", "Troubles civils", "Disturbios"},
	{"robbery", "Violent crime", "Criminalité violente", "Delincuencia violenta"},
	{"theft", "Petty crime", "Petite délinquance", "Hurtos"},
	{"kidnap", "Kidnapping", "Enlèvements", "Secuestros"},
	{"terror", "Terrorism", "Terrorisme", "Terrorismo"},
	{"quake", "Earthquakes", "Séismes", "Terremotos"},
	{"tsunami", "Tsunamis", "", ""},
	{"volcano", "Volcanoes", "Volcans", "Volcanes"},
	{"cyclone", "Tropical storms", "Cyclones", "Huracanes"},
	{"flood", "Flooding", "Inondations", "Inundaciones"},
	{"wildfire", "Wildfires", "Feux de forêt", "Incendios forestales"},
	{"heat", "Extreme heat", "Chaleur", "Calor"},
	{"snow", "Winter weather", "", ""},
	{"landslide", "Landslides", "", "Deslizamientos"},
	{"outage", "Power supply", "Électricité", "Electricidad"},
	{"airport", "Aviation", "Aviation", "Aviación"},
	{"rail", "Rail transport", "", ""},
	{"road", "Road safety", "", ""},
	{"dengue", "Dengue", "Dengue", "Dengue"},
	{"cholera", "Cholera", "Choléra", ""},
	{"measles", "Measles", "", ""},
	{"ebola", "Ebola", "", ""},
	{"pollution", "Air quality", "", ""},
	{"entry", "Entry rules", "Formalités d'entrée", "Requisitos de entrada"},
	{"curfew", "Emergency rule", "État d'urgence", "Estado de excepción"},
	{"coup", "Political stability", "Stabilité politique", ""},
	{"war", "Armed conflict", "Conflits armés", ""},
	{"election", "Elections", "Élections", "Elecciones"},
	{"lgbt", "LGBT travellers", "", ""},
	{"women", "Women travellers", "", ""},
	{"scam", "Scams", "", ""},
	{"methanol", "Food and drink", "", ""},
	{"fuel", "Fuel supply", "Carburant", "Combustible"},
	{"internet", "Communications", "", ""},
	{"border", "Borders", "", ""},
	{"detention", "Detention", "", ""},
	{"spiking", "Drink spiking", "", ""},
	{"piracy", "Maritime security", "", ""},
}

// categoryOf returns what vendors call a threat in a language.
func categoryOf(threat, lang string) string {
	for _, c := range categories {
		if c.threat == threat {
			switch lang {
			case "fr":
				return c.fr
			case "es":
				return c.es
			}
			return c.en
		}
	}
	return ""
}

// article is what a document says, before a vendor gives it a shape.
type article struct {
	title, summary            string
	chapters                  []chapter
	ratings                   []rating
	level                     int
	start, end, issued, fresh time.Time
}

type chapter struct {
	heading   string
	sentences []string
}

type rating struct {
	category, comment string
	level             int
}

// Reports are of the months before the exam, and what they warn of goes on: the queries do not ask when.
var (
	firstDay = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
)

// months are names of months in languages for which time.Format has none.
var months = map[string][]string{
	"fr": {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
	"es": {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
}

func dayIn(lang string, day time.Time) string {
	switch names := months[lang]; lang {
	case "fr":
		return fmt.Sprintf("%d %s", day.Day(), names[day.Month()-1])
	case "es":
		return fmt.Sprintf("%d de %s", day.Day(), names[day.Month()-1])
	}
	return day.Format("2 January")
}

// write makes the article of a fact.
func (w *world) write(f *fact) article {
	r := luck("article", string(f.kind), f.id)
	p := w.prose[f.lang]
	a := article{level: 1 + r.IntN(5), issued: firstDay.AddDate(0, 0, r.IntN(180)).Add(time.Duration(r.IntN(86400)) * time.Second)}
	a.fresh = a.issued.AddDate(0, 0, r.IntN(40))
	a.start = a.issued.Truncate(24*time.Hour).AddDate(0, 0, r.IntN(5))
	a.end = lastDay.AddDate(0, 0, r.IntN(20))
	say := func(text string) string { return w.fill(r, f, a, text) }
	some := func(n int, list []string) []string {
		var said []string
		for _, i := range r.Perm(len(list))[:min(n, len(list))] {
			said = append(said, say(list[i]))
		}
		return said
	}
	heading := func(en, fr, es string) string { return map[string]string{"en": en, "fr": fr, "es": es}[f.lang] }
	rate := func(n int) {
		threats := p.threats()
		for _, i := range r.Perm(len(threats))[:min(n, len(threats))] {
			remark := say(pick(r, p.of(threats[i], 1+r.IntN(2)).remarks))
			a.ratings = append(a.ratings, rating{categoryOf(threats[i], f.lang), remark, 1 + r.IntN(5)})
		}
	}
	general := p.of("general", 1).sentences
	switch f.topic {
	case anEvent:
		words := p.of(f.threat, f.wording)
		a.title = say(pick(r, words.titles))
		own := some(3, words.sentences)
		a.summary = own[0] + " " + some(1, general)[0]
		a.chapters = []chapter{
			{heading("Situation", "Situation", "Situación"), append(own, some(1+r.IntN(3), general)...)},
			{heading("Advice", "Conseils", "Recomendaciones"), some(3+r.IntN(5), general)},
		}
	case aNation:
		a.title = f.country.names[f.lang]
		own := p.of("nation", 1).sentences
		a.summary = say(own[r.IntN(min(3, len(own)))])
		rate(7)
		a.chapters = []chapter{
			{heading("Overview", "Aperçu", "Panorama"), some(4, own)},
			{heading("Safety", "Sécurité", "Seguridad"), some(6, own)},
		}
	default:
		a.title = f.city.name
		own := p.of("city", 1).sentences
		a.summary = strings.Join(some(2, own), " ")
		rate(9)
		a.chapters = []chapter{
			{heading("Security", "Sécurité", "Seguridad"), some(4+r.IntN(4), own)},
			{heading("Getting around", "Déplacements", "Transporte"), some(4+r.IntN(4), own)},
			{heading("Health", "Santé", "Salud"), some(3, own)},
		}
		if f.lang == "en" && r.IntN(8) == 0 { // a mention in passing
			far := pick(r, w.cities[:40])
			a.chapters[0].sentences = append(a.chapters[0].sentences,
				fmt.Sprintf("Like %s in %s, %s is better known than it deserves.", pick(r, far.areas), far.name, pick(r, f.city.areas)))
		}
	}
	return a
}

// fill puts facts in the places that a sentence leaves for them.
func (w *world) fill(r *rand.Rand, f *fact, a article, text string) string {
	other := func() string { return pick(r, w.cities[:300]).name }
	name, population, area, biggest, near := "", "", "", "", pick(r, w.cities[:600])
	if f.city != nil {
		name, area = f.city.name, pick(r, f.city.areas)
		population = fmt.Sprint(f.city.population / 1000 * 1000)
	}
	if len(f.country.cities) > 0 {
		biggest = f.country.cities[0].name
	} else {
		biggest = map[string]string{"en": "the capital", "fr": "la capitale", "es": "la capital"}[f.lang]
	}
	place := f.place
	if place == "" {
		place = map[string]string{"en": "the centre", "fr": "le centre", "es": "el centro"}[f.lang]
	}
	return strings.NewReplacer(
		"{city}", name, "{country}", f.country.names[f.lang], "{place}", place, "{area}", area,
		"{date}", dayIn(f.lang, a.start), "{until}", dayIn(f.lang, a.end), "{n}", fmt.Sprint(2+r.IntN(38)),
		"{k}", fmt.Sprint(2+r.IntN(6)), "{m}", fmt.Sprintf("%.1f", 4.5+r.Float64()*3), "{p}", population,
		"{other}", other(), "{other2}", other(), "{biggest}", biggest, "{neighbour}", w.countries[near.country].names[f.lang],
	).Replace(text)
}
