package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"riskdex/report"
)

// cryptic returns records of cities whose levels no scale explains, and in which nothing is called as usual.
func cryptic() (records [][]byte) {
	for i, c := range strings.Split("Lyon FR 45.76 4.84,Porto PT 41.15 -8.61,Milan IT 45.46 9.19,Hamburg DE 53.55 9.99,Seville ES 37.39 -5.98,Kyoto JP 35.01 135.77,Lima PE -12.05 -77.04,Cairo EG 30.04 31.24,Hanoi VN 21.03 105.85,Oslo NO 59.91 10.75", ",") {
		f := strings.Fields(c)
		records = append(records, fmt.Appendf(nil, `{"id":"c%d","hdr":{"zqa":%q,"zqb":%q},"zqc":%s,"zqd":%s,"zqe":"plum-%s","zqf":"Wear what you like."}`,
			i, f[0], f[1], f[2], f[3], []string{"owl", "fox", "elk"}[i%3]))
	}
	return records
}

func TestShow(t *testing.T) {
	builtin, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	records := cryptic()
	read, _, err := builtin.Infer(report.Cities, records)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := read.Show(report.Cities, records)
	if err != nil {
		t.Fatal(err)
	}
	from := func(s Shown) map[string]string {
		all := map[string]string{}
		for _, f := range s.Shapes[0].Fields {
			if f.Records > 0 {
				all[f.Field] = string(f.Pointer) + ": " + f.Why
			}
		}
		return all
	}
	for field, want := range map[string]string{
		"title": "/hdr/zqa: 100 % name the city", "country": "/hdr/zqb: 100 % of its values are countries", "location": "/zqc: 100 % are where the report is",
	} {
		if got := from(shown)[field]; !strings.HasPrefix(got, want) {
			t.Errorf("%s is from %s, want %s", field, got, want)
		}
	}
	if len(shown.Shapes) != 1 {
		t.Fatalf("%+v", shown)
	}
	lacking := shown.Shapes[0].Lacking
	level := slices.IndexFunc(lacking, func(l Lacking) bool { return l.Field == "risk_level" })
	if shown.Shapes[0].Inferred != 10 || level < 0 || !lacking[level].Expected {
		t.Fatalf("%+v", shown)
	}
	for _, l := range lacking {
		if l.Expected != (l.Field == "risk_level") {
			t.Errorf("%+v", l)
		}
	}
	c := lacking[level].Candidates
	if len(c) != 1 || string(c[0].At) != `"/zqe"` || c[0].Records != 10 || len(c[0].Examples) != 3 || c[0].Why != "3 different values" {
		t.Errorf("%+v", c)
	}

	// What the operator's file says about a field stays, and is shown.
	files := builtinFiles(t)
	files["cities.json"].Data = []byte(strings.NewReplacer(
		`"risk_level": [`, `"risk_level": ["/zqe", `, `"risk_levels": {`, `"risk_levels": {"plum-owl": 1, "plum-fox": 3, "plum-elk": 5, `,
	).Replace(string(files["cities.json"].Data)))
	stated, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	if stated, _, err = stated.Infer(report.Cities, records); err != nil {
		t.Fatal(err)
	}
	if shown, err = stated.Show(report.Cities, records); err != nil {
		t.Fatal(err)
	}
	if got := from(shown); got["risk_level"] != "/zqe: your file cities.json says so" || !strings.HasPrefix(got["country"], "/hdr/zqb: 100 %") || !slices.Equal(shown.Stated, []string{"risk_level"}) {
		t.Errorf("%v, stated %q", got, shown.Stated)
	}
	if slices.ContainsFunc(shown.Shapes[0].Lacking, func(l Lacking) bool { return l.Expected }) {
		t.Errorf("after it was taught, %+v are missing", shown.Shapes[0].Lacking)
	}
}
