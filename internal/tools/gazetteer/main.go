// Command gazetteer writes the tables of mappings/gazetteer: cities.tsv.gz from cities.tsv,
// today.tsv, local.tsv, airports.tsv, usual.tsv and capitals.tsv in this folder, regions.tsv.gz from regions.tsv
// and usual_regions.tsv, and countries.tsv.gz from formal.tsv and the names in CLDR. The same input
// makes the same tables.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "gazetteer:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("give two folders: where the sources are, and where the tables go")
	}
	from, to := args[1], args[2]
	countries, err := countriesTable(from)
	if err != nil {
		return err
	}
	ofCountry := countriesCalled(countries)
	regions, codes, err := regionsTable(from, ofCountry)
	if err != nil {
		return err
	}
	cities, err := citiesTable(from, ofCountry, codes)
	if err != nil {
		return err
	}
	return errors.Join(
		writeTable(filepath.Join(to, "cities.tsv.gz"), cities),
		writeTable(filepath.Join(to, "regions.tsv.gz"), regions),
		writeTable(filepath.Join(to, "countries.tsv.gz"), countries))
}

func writeTable(path string, table []byte) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression) // its header has no time
	if err != nil {
		return err
	}
	if _, err := w.Write(table); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644) // #nosec G306 -- it is part of the repository
}
