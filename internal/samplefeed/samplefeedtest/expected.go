// Package samplefeedtest says what a search index must hold once the sample feed has been
// accepted and settled.
package samplefeedtest

import (
	_ "embed" // expected.csv
	"encoding/csv"
	"strings"
	"testing"

	"riskdex/report"
)

//go:embed expected.csv
var table string

// Document is what can be told about one document of the index from outside.
type Document struct {
	ID   string
	Code string // of a city, in upper case; otherwise empty
	// Mark is an invented word in the text of this edition of this document and nowhere
	// else: a full-text search for it finds the document.
	Mark    string
	Updated bool // an update has replaced the edition that was created
}

// Expected is what the index must hold.
type Expected struct {
	Live, Gone map[report.Kind][]Document // in the order in which they were created
	// Stale are the marks of replaced and deleted editions: a search for one must find nothing.
	Stale []string
}

// Read returns what expected.csv says.
func Read(t testing.TB) Expected {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	e := Expected{Live: map[report.Kind][]Document{}, Gone: map[report.Kind][]Document{}}
	for _, row := range rows[1:] {
		kind, mark, replaced, end := report.Kind(row[0]), row[3], row[4], row[5]
		documents := e.Live
		if end != "" {
			documents = e.Gone
			e.Stale = append(e.Stale, mark)
		}
		if replaced != "" {
			e.Stale = append(e.Stale, replaced)
		}
		documents[kind] = append(documents[kind], Document{ID: row[1], Code: row[2], Mark: mark, Updated: replaced != ""})
	}
	return e
}
