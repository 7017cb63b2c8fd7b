package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// TestValuesInOtherShapes: what the values tell is found in whatever shape they are.
func TestValuesInOtherShapes(t *testing.T) {
	grade := func(i int) string { return []string{"A", "B", "C", "D"}[i%4] }
	for name, c := range map[string]struct {
		more  func(i int) string // of a record
		field string
		want  string // of the third one
	}{
		"a table of levels": {func(i int) string {
			return fmt.Sprintf(`"lk":{"q":{"0":{"e":"Low"},"1":{"e":"High"},"2":{"e":"Extreme"}}},"q":%d`, i%3)
		}, "risk_level", `5`},
		"grades": {func(i int) string { return fmt.Sprintf(`"safetyGrade":{"value":%q}`, grade(i)) }, "risk_level", `4`},
		"grades, the worst is A": {func(i int) string {
			return fmt.Sprintf(`"riskGrade":%q,"crime":%d,"terrorism":%[2]d,"unrest":%[2]d,"health":%[2]d`, grade(i), 4-i%4)
		}, "risk_level", `2`},
		"an order beside labels": {func(i int) string {
			return fmt.Sprintf(`"advice level":{"name":%q,"weight":%d}`, []string{"Go", "Mind", "Think", "Stay away"}[i%4], 10*(i%4))
		}, "risk_level", `4`},
		"a rare highest level": {func(i int) string {
			label := []string{"low", "guarded", "high"}[i%3]
			if i == 2 {
				label = "critical"
			}
			return fmt.Sprintf(`"riskLevel":%q`, label)
		}, "risk_level", `5`},
		"typed values":           {func(i int) string { return fmt.Sprintf(`"riskLevel":{"type":"number","number":%d}`, i%5+1) }, "risk_level", `3`},
		"without vowels":         {func(i int) string { return fmt.Sprintf(`"RSK_LVL":%d`, i%5+1) }, "risk_level", `3`},
		"two dates without name": {func(i int) string { return fmt.Sprintf(`"pt":%d,"ut":%d`, 1750000000+i*1000, 1760000000+i*90000) }, "updated_at", `"2025-10-11T10:53:20Z"`},
		"none of two dates": {func(i int) string {
			return fmt.Sprintf(`"pt":%d,"ut":%d`, 1750000000+i*1000, (i%2)*(1760000000+i*90000))
		}, "updated_at", ``},
		"dates by another name": {func(i int) string {
			return fmt.Sprintf(`"posted":"2026-01-0%d","more":[{"label":%q,"value":"3 May 2026"},{"label":"zz","value":"%d"}]`, i%9+1, []string{"Ends", "Event ends"}[i%2], i)
		}, "ends_at", `"2026-05-03T23:59:59Z"`},
		"airports as names": {func(i int) string {
			return fmt.Sprintf(`"iata":{"gates":{%q:{"n":1}}}`, []string{"LHR", "CDG", "LOS", "HND", "LIM", "NBO", "OSL", "BGW", "BOG", "BER", "MAD", "FCO", "VIE", "WAW", "ATH", "CAI", "TUN", "ACC", "DKR", "EBB"}[i])
		}, "airports", `["LOS"]`},
		"bands and trends": {func(i int) string {
			return fmt.Sprintf(`"signals":{"crime":{"band":%q,"trend":"up"},"warZone":{"band":"low","trend":"flat"},"soloWomen":{"band":"moderate","trend":"up"}}`, []string{"low", "high", "severe"}[i%3])
		}, "threats", `["crime","women"]`},
		"labels by exclusion": {func(i int) string {
			return fmt.Sprintf(`"m":[{"topic":"Crime","score":%d},{"topic":"Kidnap & Extortion","score":%d},{"topic":"Power, water and phones","score":%d},{"topic":"Health","score":1}]`, i%2+1, 4-i%2, 5-i%3)
		}, "threats", `["infrastructure","kidnapping"]`},
		"a position in degrees": {func(i int) string { return "" }, "location", `{"lat":6.45,"lon":3.39}`},
	} {
		var records [][]byte
		for i, of := range unnamed(20) {
			text, _, _ := strings.Cut(string(of.Body), `,"zzE"`)
			if more := c.more(i); more != "" {
				text += "," + more
			}
			records = append(records, []byte(text+"}"))
		}
		for range 2 {
			of, _, err := builtinSet(t).Infer(report.Cities, records)
			if err != nil {
				t.Fatal(err)
			}
			third := slices.IndexFunc(records, func(r []byte) bool { return strings.Contains(string(r), "Lagos") })
			doc, _, err := of.AppendDocument(nil, report.Change{Key: report.Key{Kind: report.Cities, ID: "3"}, Op: report.Index, Body: records[third]})
			if err != nil {
				t.Fatal(err)
			}
			var all map[string]jsontext.Value
			if err := json.Unmarshal(doc, &all); err != nil {
				t.Fatal(err)
			}
			if got := string(all[c.field]); got != c.want {
				t.Errorf("%s: %s is %s, want %s", name, c.field, got, c.want)
			}
			slices.Reverse(records)
		}
	}
}

// TestSpellingsInAnyOrder: a name that records spell in two ways tells the same, whichever came first.
func TestSpellingsInAnyOrder(t *testing.T) {
	var records [][]byte
	for i, of := range unnamed(12) {
		records = append(records, []byte(strings.Replace(string(of.Body), "zzA", []string{"City_Name", "cityName"}[i%2], 1)))
	}
	first, _, err := builtinSet(t).Infer(report.Cities, records)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(records)
	second, _, err := builtinSet(t).Infer(report.Cities, records)
	if err != nil {
		t.Fatal(err)
	}
	if first.Hash(report.Cities) != second.Hash(report.Cities) {
		t.Error("in another order they tell something else")
	}
}
