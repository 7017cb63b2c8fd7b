package mappings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// TestExplainOfWhatARecordRefersTo: values that are found by way of a reference, or in numbered members, are
// said to be where the record has them.
func TestExplainOfWhatARecordRefersTo(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for i, country := range strings.Fields("FR DE IT ES PT GB IE NL BE AT") {
		records = append(records, fmt.Appendf(nil, `{"data":{"id":"%d","attributes":{"headline":"Strikes hit the railways of region %[1]d","airport1_code":"CDG","airport2_code":"LHR"},
			"relationships":{"nation":{"data":{"type":"nations","id":"n%[1]d"}}}},
			"included":[{"type":"nations","id":"n%[1]d","attributes":{"iso":%[2]q,"name":"x"}}]}`, i, country))
	}
	read, _, err := s.Infer(report.Advisories, records)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := read.Explain(report.Advisories, records[3])
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]jsontext.Pointer{}
	for _, f := range fields {
		at[f.Field+" "+string(f.Value)] = f.Pointer
	}
	if at[`country "ES"`] != "/included/0/attributes/iso" || at[`title "Strikes hit the railways of region 3"`] != "/data/attributes/headline" {
		t.Errorf("%v", at)
	}
	if _, err := read.Show(report.Advisories, records); err != nil {
		t.Error(err)
	}
}
