package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestTablesAreMade: the tables of the program are those that their sources make.
func TestTablesAreMade(t *testing.T) {
	to := t.TempDir()
	if err := run([]string{"gazetteer", ".", to}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cities.tsv.gz", "countries.tsv.gz", "regions.tsv.gz"} {
		made, there := table(t, filepath.Join(to, name)), table(t, filepath.Join("../../../mappings/gazetteer", name))
		if !bytes.Equal(made, there) {
			t.Errorf("%s is not what its sources make: run go generate ./mappings/gazetteer", name)
		}
	}
}

func table(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
