package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// cryptic returns city reports with levels that no scale explains.
func cryptic() string {
	var all []string
	for i, c := range strings.Split("Lyon FR 45.76 4.84,Porto PT 41.15 -8.61,Milan IT 45.46 9.19,Hamburg DE 53.55 9.99,Seville ES 37.39 -5.98,Kyoto JP 35.01 135.77,Lima PE -12.05 -77.04,Cairo EG 30.04 31.24,Hanoi VN 21.03 105.85,Oslo NO 59.91 10.75", ",") {
		f := strings.Fields(c)
		all = append(all, fmt.Sprintf(`{"id":"c%d","hdr":{"zqa":%q,"zqb":%q},"zqc":%s,"zqd":%s,"zqe":"plum-%s","zqf":"Wear what you like."}`,
			i, f[0], f[1], f[2], f[3], []string{"owl", "fox", "elk"}[i%3]))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// TestFieldsMissingAreTold from the first delivery of a feed whose levels are not understood, until somebody
// has done what the remedy says. A feed without levels is one with a line in its file.
func TestFieldsMissingAreTold(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.send("POST", "/cities", cryptic())
	trouble := p.says(admin.TroubleFields)
	if trouble.Kind != report.Cities || trouble.Severity != admin.Warning || !strings.HasPrefix(trouble.Detail, "Of 10 documents of cities, 10 have no risk_level:") {
		t.Errorf("the trouble is %+v, want one of levels", trouble)
	}
	m := p.metrics()
	if m[`riskdex_field_missing{field="risk_level",kind="cities"}`] != 1 || m[`riskdex_documents_with_field{field="title",kind="cities"}`] != 10 {
		t.Error("the metrics do not say so")
	}
	shown := p.expect(exitNegative, "", words("mappings show cities"), "read as the values of 10 records have told", "/hdr/zqb", "100 % of its values are countries",
		"risk_level: MISSING: nothing fills it; it may be", `"risk_level": ["/zqe"]`, "riskdex export cities > cities.jsonl", `"without": ["risk_level"]`)
	var r admin.Reading
	require.NoError(t, json.Unmarshal([]byte(p.expect(exitNegative, "", words("mappings show cities --json")).out), &r))
	if r.Records != 10 || len(r.Shapes) != 1 || r.Shapes[0].Inferred != 10 || !slices.ContainsFunc(r.Shapes[0].Lacking, func(l admin.LackingField) bool { return l.Expected && string(l.Candidates[0].At) == `"/zqe"` }) {
		t.Errorf("%+v", r)
	}
	p.expect(exitNegative, "", words("mappings show"), "special-reports: no records yet")

	dir := t.TempDir()
	list, to := filepath.Join(dir, "cities.jsonl"), filepath.Join(dir, "taught")
	require.NoError(t, os.WriteFile(list, []byte(p.expect(exitDone, "", words("export cities")).out), 0o600))
	p.expect(exitDone, "", []string{"mappings", "learn", list, "--to", to}, "/hdr/zqb")
	file := filepath.Join(to, "cities.json")
	learnt, err := os.ReadFile(file)
	require.NoError(t, err)
	line, _, _ := strings.Cut(shown.out[strings.Index(shown.out, `"risk_level": [`):], "]")
	taught := strings.Replace(string(learnt), `"fields": {`, `"risk_levels": {"plum-owl": 1, "plum-fox": 3, "plum-elk": 5}, "fields": {`+line+`],`, 1)
	require.NoError(t, os.WriteFile(file, []byte(taught), 0o600))
	p.expect(exitDone, "", []string{"mappings", "check", to}, "no mistakes")
	p.terminate()
	p.extra = append(p.extra, "--mappings", to)
	p.start()
	eventually(t, "nothing is missing", func() bool {
		st := p.status()
		return st.Well && slices.Contains(st.Kinds[0].Fields, report.FieldCount{Field: "risk_level", Documents: 10, Expected: 50})
	})
	p.expect(exitDone, "", words("mappings show cities"), "your cities.json decides about", "your file cities.json says so")

	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(learnt), `"fields": {`, `"without": ["risk_level"], "fields": {`, 1)), 0o600))
	p.terminate()
	p.start()
	eventually(t, "nothing is expected", func() bool {
		st := p.status()
		return st.Well && slices.Contains(st.Kinds[0].Fields, report.FieldCount{Field: "risk_level"})
	})
}
