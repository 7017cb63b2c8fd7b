package mappings

import (
	"slices"
	"strings"
	"testing"

	"riskdex/report"
)

// TestUnfitNamesEveryField gives every field a value that does not fit, and text more than
// it takes. The fields reported then are those that Unfit lists.
func TestUnfitNamesEveryField(t *testing.T) {
	body := `{"code":true,"title":true,"aliases":[true],"country":true,"risk_level":true,"airports":true,"places":[{"name":true}],
		"location":true,"summary":true,"start_date":true,"end_date":true,"published_at":true,"updated_at":true,
		"many":[` + strings.Repeat("123456,", maxNodes+maxSource/7) + `1]}`
	s := builtinSet(t)
	for _, kind := range report.Kinds() {
		_, unfit, err := s.AppendDocument(nil, change(kind, "1", body))
		if err != nil {
			t.Fatal(err)
		}
		if want := s.Unfit(kind); !slices.Equal(unfit, want) {
			t.Errorf("%s: left empty are %v, Unfit lists %v", kind, unfit, want)
		}
	}
	if got := s.Unfit("countries"); got != nil {
		t.Errorf("of an unknown kind: %v", got)
	}
}
