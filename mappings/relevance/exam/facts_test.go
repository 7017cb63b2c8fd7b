package exam

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"riskdex/report"
)

//go:embed testdata/cities.tsv.gz
var citiesFile []byte

//go:embed testdata/countries.tsv
var countriesFile []byte

//go:embed testdata/events.tsv
var eventsFile []byte

//go:embed testdata/places.tsv
var placesFile []byte

// city is a city of the world.
type city struct {
	id, code, name, country string
	lat, lon                float64
	population              int
	airports, others        []string
	areas                   []string // places within it
	known                   bool     // the areas are real ones, which no other city has
}

// country is a country of the world.
type country struct {
	code, alpha3 string
	names        map[string]string // by language
	cities       []*city           // the largest first
}

// fact is what is known about a document before it is written.
type fact struct {
	kind    report.Kind
	id      string
	vendor  *vendor
	lang    string
	topic   topic
	city    *city    // nil for an advisory on a country
	country *country // always
	threat  string   // of an event
	wording int      // of the event: 1 or 2
	place   string   // within the city, where the event is
}

func (f *fact) key() string { return string(f.kind) + "/" + f.id }

// topic is what a document is about.
type topic int

const (
	aCity topic = iota
	aNation
	anEvent
)

// world has what the feed is made from.
type world struct {
	cities    []*city // the largest first
	countries map[string]*country
	codes     []string // of the countries, in the order of their file
	documents []*fact
	prose     map[string]prose // by language
}

// table reads a file of tab-separated columns and skips comments.
func table(t testing.TB, data []byte) [][]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.Comment, r.LazyQuotes, r.FieldsPerRecord = '\t', '#', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{countries: map[string]*country{}, prose: proses(t)}
	for _, row := range table(t, countriesFile)[1:] {
		w.countries[row[0]] = &country{code: row[0], alpha3: row[1], names: map[string]string{"en": row[2], "fr": row[3], "es": row[4]}}
		w.codes = append(w.codes, row[0])
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(citiesFile))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, row := range table(t, data)[1:] {
		c := &city{
			id: row[0], code: row[1], name: row[2], country: row[3], lat: number(row[4]), lon: number(row[5]),
			population: int(number(row[6])), airports: strings.Fields(row[7]), others: splitList(row[8]),
		}
		if w.countries[c.country] == nil {
			t.Fatalf("%s is in %q, which is no country", c.name, c.country)
		}
		w.cities = append(w.cities, c)
	}
	slices.SortStableFunc(w.cities, func(a, b *city) int { return b.population - a.population })
	for _, c := range w.cities {
		n := w.countries[c.country]
		n.cities = append(n.cities, c)
		for _, i := range luck("areas", c.id).Perm(len(usualAreas))[:4] {
			c.areas = append(c.areas, usualAreas[i])
		}
	}
	for _, row := range table(t, placesFile) {
		c := w.find(row[0])
		if c == nil {
			t.Fatalf("places.tsv: there is no %s", row[0])
		}
		c.areas, c.known = splitList(row[1]), true
	}
	return w
}

// usualAreas are what places are called in many cities.
var usualAreas = []string{
	"Old Town", "Harbour Quarter", "Station District", "University Quarter", "Republic Square", "Central Market", "Airport Road",
	"Industrial Zone", "North Gate", "Diplomatic Quarter", "Riverside", "Liberty Avenue", "Cathedral Square", "Bazaar District",
	"New Town", "Stadium Park", "East Bank", "Botanical Garden", "Exhibition Centre", "Castle Hill", "Independence Square",
	"West End", "Lake District", "Green Market", "Mill Quarter", "Fort Road", "Victory Park", "Weavers' Lane", "Canal Street",
	"Museum Island", "Garden City", "Observatory Hill", "Cotton Exchange", "Long Bridge", "Silk Market", "Parliament Hill",
}

func splitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '|' })
}

// find returns the city that is called NAME or NAME/CC, the largest one without a
// country; nil if there is none.
func (w *world) find(name string) *city {
	name, country, stated := strings.Cut(name, "/")
	for _, c := range w.cities {
		if c.name == name && (!stated || c.country == country) {
			return c
		}
	}
	return nil
}

// luck returns a source of random numbers that depend on the seed alone.
func luck(seed ...string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(seed, "\x00")))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
