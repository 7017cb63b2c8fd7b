package mappings

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// FieldSource is a value of a record that went to a field of its document, or was left out
// because it does not fit.
type FieldSource struct {
	Field   string           // such as title; of a place, such as places.name
	Value   jsontext.Value   // as it is in the document, or in the record if it was left out
	Pointer jsontext.Pointer // where in the record; the record itself for `text`, which is from all of it
	Guessed bool             // found by the words of its name; no pattern of the mapping file leads there
	Reason  string           // why it was left out; empty if it was not
	Because string           // what tells the language, of a field such as text_in.fr
}

// Explain returns, in the order of the document, where the fields come from in the document
// that [Set.AppendDocument] makes of a record. It leaves out what is not from the record
// itself, such as received_at. It fails if AppendDocument would.
func (s *Set) Explain(kind report.Kind, record []byte) ([]FieldSource, error) {
	t := new(trace)
	c := report.Change{Key: report.Key{Kind: kind}, Op: report.Index, Body: record}
	if _, _, err := s.appendDocument(nil, c, t); err != nil {
		return nil, fmt.Errorf("making a document of the record: %w", err)
	}
	fields := make([]FieldSource, len(t.attempts))
	for i, a := range t.attempts {
		fields[i] = a.FieldSource
	}
	return fields, nil
}

// whyNot returns the reason why a value is not in a field.
func whyNot(field string, v verdict) string {
	switch {
	case v == unsure:
		return "it is not clear which of the two numbers is the latitude; the country of the record would tell, or names such as lat and lon"
	case v == surplus:
		return fmt.Sprintf("the field takes at most %d values; this and what comes after it is left out", maxValues)
	case field == "source":
		return fmt.Sprintf("the record has more than %d bytes; only the journal keeps it", maxSource)
	case field == "text":
		return fmt.Sprintf("it has more than %d bytes, or the record more than %d values; the rest is left out", maxText, maxNodes)
	case v == container:
		return "it is an object or an array, and no pattern leads into it; the field takes " + takes(field)
	}
	return "the field takes " + takes(field)
}

// takes describes what fits a field.
func takes(field string) string {
	switch field {
	case "code", "places.code":
		return fmt.Sprintf("a string without white space, of at most %d bytes", maxKeyword)
	case "title", "names", "places.name":
		return fmt.Sprintf("words or a number, of at most %d bytes", maxLine)
	case "country":
		return "two or three letters, as in ISO 3166, or the name of a country"
	case "risk_level":
		return "a whole number from 1 to 5 that its label does not contradict, or a label that risk_levels lists"
	case "risk_label":
		return fmt.Sprintf("words, of at most %d bytes", maxKeyword)
	case "airports":
		return "three letters, as IATA gives them"
	case "location", "places.location":
		return "a point on earth: latitude and longitude, or GeoJSON"
	case "summary":
		return fmt.Sprintf("words, of which it keeps the first %d bytes", maxSummary)
	case "starts_at", "ends_at", "published_at", "updated_at":
		return "a date or a time, such as 2026-07-30, 2026-07-30T12:00:00Z, or a Unix time from 1973 on"
	}
	return ""
}
