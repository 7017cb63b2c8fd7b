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

//go:embed regions.tsv.gz
var packedRegions []byte

//go:embed countries.tsv.gz
var packedCountries []byte

// Gazetteer has tables of cities, of regions and of countries. It is immutable and safe for
// concurrent use.
type Gazetteer struct {
	cities    []City
	cityNames names
	codes     map[string]int32 // of cities
	sum       string
	regions   regions
	countries countries
}

// tables are the texts of the tables; an absent one is empty.
type tables struct{ cities, regions, countries []byte }

// Builtin reads the tables that are part of the program. README.md says what that costs.
func Builtin() (*Gazetteer, error) {
	return readBuiltin(true)
}

// BuiltinCountries is Builtin without cities and regions.
func BuiltinCountries() (*Gazetteer, error) {
	return readBuiltin(false)
}

func readBuiltin(all bool) (*Gazetteer, error) {
	var t tables
	for _, table := range t.named() {
		if !all && table.text != &t.countries {
			continue
		}
		var err error
		if *table.text, err = unpack(table.packed); err != nil {
			return nil, fmt.Errorf("unpacking the built-in %s: %w", table.file, err)
		}
	}
	return t.parse()
}

// namedTable is a table with the name of its file, and the built-in one.
type namedTable struct {
	file   string
	text   *[]byte
	packed []byte
}

func (t *tables) named() []namedTable {
	return []namedTable{
		{"cities.tsv", &t.cities, packedCities},
		{"regions.tsv", &t.regions, packedRegions},
		{"countries.tsv", &t.countries, packedCountries},
	}
}

// Sum identifies the tables that Load has read.
func (g *Gazetteer) Sum() string { return g.sum }

// BuiltinSum identifies the tables that Builtin reads. It does not read them but takes the
// checksums at the end of the packed tables.
func BuiltinSum() string {
	var sums []byte
	for _, table := range new(tables).named() {
		sums = append(sums, table.packed[len(table.packed)-8:]...)
	}
	return hex.EncodeToString(sums)
}

// Load reads cities.tsv, regions.tsv and countries.tsv from a folder, which must have at least one
// of them. Built-in tables stand in for the others.
func Load(folder fs.FS) (*Gazetteer, error) {
	var t tables
	digest := sha256.New()
	found := false
	for _, table := range t.named() {
		text, err := fs.ReadFile(folder, table.file)
		switch {
		case err == nil:
			found = true
		case errors.Is(err, fs.ErrNotExist):
			text, err = unpack(table.packed)
		}
		if err != nil {
			return nil, err
		}
		*table.text = text
		digest.Write(text) // never fails
	}
	if !found {
		return nil, errors.New("the folder has neither cities.tsv nor regions.tsv nor countries.tsv")
	}
	g, err := t.parse()
	if err != nil {
		return nil, err
	}
	g.plain()
	g.sum = hex.EncodeToString(digest.Sum(nil)[:8])
	return g, nil
}

func (t tables) parse() (*Gazetteer, error) {
	g := new(Gazetteer)
	var err error
	if g.countries, err = parseCountries(string(t.countries)); err != nil {
		return nil, fmt.Errorf("countries.tsv: %w", err)
	}
	if g.regions, err = parseRegions(string(t.regions)); err != nil {
		return nil, fmt.Errorf("regions.tsv: %w", err)
	}
	if err := g.parseCities(string(t.cities)); err != nil {
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
	for i := range g.regions.rows {
		r := &g.regions.rows[i]
		r.Name, r.others = Plain(r.Name), plain(r.others)
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
