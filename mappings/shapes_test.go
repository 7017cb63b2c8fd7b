package mappings

import (
	"bytes"
	"strings"
	"testing"

	"riskdex/report"
)

// TestTextOfUnknownFields: the text of a record with unknown names has all its strings, in order,
// each as a paragraph.
func TestTextOfUnknownFields(t *testing.T) {
	s := builtinSet(t)
	const record = `{"zzKopf":"Erste Zeile\nzweite","zzTeile":[{"zzWort":"third"},["fourth",[{"zzTief":"<p>fifth</p><p>sixth</p>"}]]],"zzZahl":7,"zzEnde":"seventh"}`
	const text = `"Erste Zeile\nzweite\n\nthird\n\nfourth\n\nfifth\n\nsixth\n\nseventh"`
	for _, kind := range report.Kinds() {
		for _, body := range []string{record, `[` + record + `]`, `{"zzUmschlag":` + record + `}`, `{"data":{"attributes":` + record + `}}`} {
			doc, unfit, err := s.AppendDocument(nil, change(kind, "1", body))
			if err != nil || len(unfit) > 0 {
				t.Fatalf("%s: left out %v, error %v; want nothing left out", body, unfit, err)
			}
			if !bytes.Contains(doc, []byte(`"text":`+text+`,`)) || !bytes.HasSuffix(doc, []byte(`"source":`+body+`}`)) {
				t.Errorf("the document of %s is %s, want the text %s", body, doc, text)
			}
		}
	}
}

// TestHiddenMarkupIsNotText: what a browser does not show (scripts, comments, attributes, embedded
// files) is not part of the text, and what stands beside it is.
func TestHiddenMarkupIsNotText(t *testing.T) {
	s := builtinSet(t)
	hidden := strings.Repeat("SElEREVO", 40) // base64
	for _, value := range []string{
		`seen <script>HIDDEN</script>also`,
		`seen <script type='x'>if (a<b) HIDDEN; '<p>HIDDEN</p>'</script >also`,
		`seen <STYLE media=\"HIDDEN\">p { HIDDEN: 1 }</STYLE>also`,
		`seen <!-- HIDDEN <p>HIDDEN</p> -->also`,
		`seen <![CDATA[HIDDEN]]>also`,
		`seen <?php HIDDEN ?>also`,
		`seen <!DOCTYPE HIDDEN>also`,
		`seen <a href='https://HIDDEN' title=\"HIDDEN > HIDDEN\" data-x=HIDDEN>also</a>`,
		`seen <img alt=\"HIDDEN\" src=\"data:image/png;base64,` + hidden + `\"/>also`,
		`seen &lt;script&gt;HIDDEN&lt;/script&gt;also`,
		`seen \u003cscript\u003eHIDDEN\u003c/script\u003ealso`,
		`seen <p>x</p><script>HIDDEN`,
		`seen ` + hidden + ` also`,
		`seen ![](data:image/png;base64,` + hidden + `) also`,
	} {
		got, unfit := field(t, s, "text", `{"x":"`+value+`"}`)
		if strings.Contains(got, "HIDDEN") || strings.Contains(got, "SElE") || !strings.HasPrefix(got, `"seen`) || unfit {
			t.Errorf("the text of %.100s is %.200s, want nothing hidden", value, got)
		}
		if !strings.Contains(got, "also") && !strings.HasSuffix(value, "HIDDEN") {
			t.Errorf("the text of %.100s is %.200s, want also what follows", value, got)
		}
	}
	for _, value := range []string{hidden, `data:text/html,<p>HIDDEN</p>`, `data:image/png;base64,` + hidden, `JVBERi0xLjcK` + hidden, `%PDF-1.7 HIDDEN`,
		`\u0000\u0001\u0002\u0003\u0004HIDDEN`, `<script>HIDDEN</script>`, `<style>HIDDEN</style>`, `<!-- HIDDEN -->`} {
		if got, _ := field(t, s, "text", `{"x":"`+value+`"}`); got != "" {
			t.Errorf("the text of %.100s is %.200s, want none", value, got)
		}
	}
}
