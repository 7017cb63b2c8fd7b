package gazetteer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
)

//go:embed cities.tsv.gz
var packedCities []byte

//go:embed countries.tsv.gz
var packedCountries []byte

// Gazetteer is a table of cities and one of countries. It is immutable and safe for
// concurrent use.
type Gazetteer struct {
	cities    []City
	cityNames names
	codes     map[string]int32 // of cities
	sum       string
	countries countries
}

// Builtin reads the tables that are part of the program. README.md says what that costs.
func Builtin() (*Gazetteer, error) {
	cities, err := unpack(packedCities)
	if err != nil {
		return nil, fmt.Errorf("unpacking the built-in cities: %w", err)
	}
	countries, err := unpack(packedCountries)
	if err != nil {
		return nil, fmt.Errorf("unpacking the built-in countries: %w", err)
	}
	return parse(cities, countries)
}

// Sum identifies the tables that Load has read.
func (g *Gazetteer) Sum() string { return g.sum }

// BuiltinSum identifies the tables that Builtin reads. It does not read them but takes the
// checksums at the end of the packed tables.
func BuiltinSum() string {
	end := func(packed []byte) string { return hex.EncodeToString(packed[len(packed)-8:]) }
	return end(packedCities) + end(packedCountries)
}

// BuiltinCountries is Builtin without cities.
func BuiltinCountries() (*Gazetteer, error) {
	countries, err := unpack(packedCountries)
	if err != nil {
		return nil, fmt.Errorf("unpacking the built-in countries: %w", err)
	}
	return parse(nil, countries)
}

// Load reads cities.tsv and countries.tsv from a folder, which must have at least one of
// them. The built-in table stands in for the other.
func Load(folder fs.FS) (*Gazetteer, error) {
	cities, noCities := fs.ReadFile(folder, "cities.tsv")
	countries, noCountries := fs.ReadFile(folder, "countries.tsv")
	lacksCities, lacksCountries := errors.Is(noCities, fs.ErrNotExist), errors.Is(noCountries, fs.ErrNotExist)
	var err error
	switch {
	case lacksCities && lacksCountries:
		return nil, errors.New("the folder has neither cities.tsv nor countries.tsv")
	case lacksCities && noCountries == nil:
		cities, err = unpack(packedCities)
	case lacksCountries && noCities == nil:
		countries, err = unpack(packedCountries)
	case lacksCities:
		err = noCountries
	case lacksCountries:
		err = noCities
	default:
		err = errors.Join(noCities, noCountries)
	}
	if err != nil {
		return nil, err
	}
	g, err := parse(cities, countries)
	if err != nil {
		return nil, err
	}
	g.plain()
	digest := sha256.New()
	digest.Write(cities) // never fails
	digest.Write(countries)
	g.sum = hex.EncodeToString(digest.Sum(nil)[:8])
	return g, nil
}

func parse(cities, countries []byte) (*Gazetteer, error) {
	g := new(Gazetteer)
	var err error
	if g.countries, err = parseCountries(string(countries)); err != nil {
		return nil, fmt.Errorf("countries.tsv: %w", err)
	}
	if err := g.parseCities(string(cities)); err != nil {
		return nil, fmt.Errorf("cities.tsv: %w", err)
	}
	return g, nil
}

// plain brings names into the form of Plain, in which those of the built-in tables are.
func (g *Gazetteer) plain() {
	plain := func(names string) string {
		all := strings.Split(names, "|")
		for i, name := range all {
			all[i] = Plain(name)
		}
		return strings.Join(all, "|")
	}
	for i := range g.cities {
		g.cities[i].others = plain(g.cities[i].others)
	}
	for i := range g.countries.rows {
		g.countries.rows[i].names = plain(g.countries.rows[i].names)
	}
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// rows yields the rows of a table, with the names of its columns and the number of their
// line. It ends with an error if a row has another number of columns than the first, or a
// needed column is missing.
func rows(table string, needed ...string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		var columns map[string]int
		line := 0
		for text := range strings.Lines(table) {
			line++
			if text = strings.TrimRight(text, "\r\n"); text == "" {
				continue
			}
			cells := strings.Split(text, "\t")
			if columns == nil {
				columns = make(map[string]int, len(cells))
				for i, name := range cells {
					columns[name] = i
				}
				for _, name := range needed {
					if _, ok := columns[name]; !ok {
						yield(row{}, fmt.Errorf("line %d has no column %q; the first line names the columns, with tabs between them", line, name))
						return
					}
				}
				continue
			}
			if len(cells) != len(columns) {
				yield(row{}, fmt.Errorf("line %d has %d columns, but the first line has %d", line, len(cells), len(columns)))
				return
			}
			if !yield(row{columns, cells, line}, nil) {
				return
			}
		}
	}
}

type row struct {
	columns map[string]int
	cells   []string
	line    int
}

// cell returns what a row has in a column, or "" if there is no such column.
func (r row) cell(column string) string {
	i, ok := r.columns[column]
	if !ok {
		return ""
	}
	return r.cells[i]
}
