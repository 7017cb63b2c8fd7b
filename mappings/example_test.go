package mappings_test

import (
	"encoding/json"
	"fmt"
	"log"

	"riskdex/mappings"
	"riskdex/report"
	"riskdex/search"
)

// An app builds the body of a search, and sends it to the path that belongs to it.
func ExampleSet_SearchBody() {
	set, err := mappings.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	body, err := set.SearchBody("protests sydney", search.Query{Countries: []string{"AU"}, RiskLevel: 2, Size: 3})
	if err != nil {
		log.Fatal(err)
	}
	var sent struct{ Size int }
	if err := json.Unmarshal(body, &sent); err != nil {
		log.Fatal(err)
	}
	fmt.Println(search.Path("cities", "advisories", "special-reports"))
	fmt.Println(sent.Size)
	// Output:
	// /cities,advisories,special-reports/_search?allow_partial_search_results=false
	// 3
}

// A record becomes a document with the fields that searches know. What does not fit its
// field is left out and reported.
func ExampleSet_AppendDocument() {
	set, err := mappings.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	doc, unfit, err := set.AppendDocument(nil, report.Change{
		Key:  report.Key{Kind: report.Cities, ID: "130"},
		Op:   report.Index,
		Body: []byte(`{"id": 130, "code": "lon", "name": "London", "risk_level": "Moderate", "start_date": "soon"}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	var fields struct {
		Code, Title string
		RiskLevel   int `json:"risk_level"`
	}
	if err := json.Unmarshal(doc, &fields); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v, left out: %v\n", fields, unfit)
	// Output:
	// {Code:LON Title:London RiskLevel:2}, left out: [starts_at]
}

// Explain tells where the fields of a document come from in a record.
func ExampleSet_Explain() {
	set, err := mappings.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	sources, err := set.Explain(report.Advisories, []byte(`{"headline": "Strikes in France", "severity": "High"}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sources {
		if s.Field == "title" || s.Field == "risk_level" {
			fmt.Println(s.Field, s.Value, s.Pointer)
		}
	}
	// Output:
	// title "Strikes in France" /headline
	// risk_level 4 /severity
}
