package livetest

import (
	"strings"
	"testing"

	"riskdex/report"
	"riskdex/search"
)

// TestOwnLanguage: a text that is not in English is found by other forms of its words, which
// are highlighted and not taken for misspelt.
func TestOwnLanguage(t *testing.T) {
	set, ask := asked(t, []record{
		{kind: report.Advisories, id: "fr", body: `{"title":"Biarritz","body":"Les plages sont fermées à cause des méduses et les nageurs doivent rester hors de l'eau."}`},
		{kind: report.Advisories, id: "zh", body: `{"title":"上海地铁停运","body":"因信号故障,上海地铁二号线今天上午停运。"}`},
		{kind: report.Advisories, id: "zh-2", body: `{"title":"四川地震救援","body":"地面多次晃动,铁路部门已暂停列车运行。"}`},
	})
	for words, want := range map[string]string{
		"plage fermée": "Les <em>plages</em> sont <em>fermées</em>", "meduse": "des <em>méduses</em>", "地铁": "上海<em>地铁</em>", "地鐵": "上海<em>地铁</em>",
	} {
		body, err := set.SearchBody(words, search.Query{})
		result := ask(t, body, err)
		if len(result.Hits) == 0 || result.DidYouMean != "" {
			t.Errorf("%q finds %q and suggests %q", words, titles(result), result.DidYouMean)
			continue
		}
		var all []string
		for field, texts := range result.Hits[0].Highlights {
			if strings.HasPrefix(field, "text_in.") {
				all = append(all, texts...)
			}
		}
		if got := strings.Join(all, " "); !strings.Contains(strings.ReplaceAll(got, "</em><em>", ""), want) {
			t.Errorf("%q highlights %q, want %q", words, got, want)
		}
	}
}
