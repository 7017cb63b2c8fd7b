package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"riskdex/report"
)

const (
	inEnglish = "The beaches are closed because of jellyfish, and swimmers should stay out of the water."
	inFrench  = "Les plages sont fermées à cause des méduses et les nageurs doivent rester hors de l’eau."
	inNordic  = "Strandene er lukket og det er forbudt."
)

func TestTextIn(t *testing.T) {
	for _, c := range []struct{ name, record, want string }{
		{"English", `{"title":"Biarritz","body":"` + inEnglish + `"}`, ``},
		{"French", `{"title":"Biarritz","body":"` + inFrench + `"}`, `{"fr":"Biarritz\n\n` + inFrench + `"}`},
		{"an English text that is said to be German", `{"title":"Rügen","langcode":"de","body":"` + inEnglish + `"}`, ``},
		{"a French text that is said to be English", `{"lang":"en","body":"` + inFrench + `"}`, `{"fr":"` + inFrench + `"}`},
		{"a text that may be in two languages", `{"body":"` + inNordic + `"}`, ``},
		{"one of them is stated", `{"language":"nb-NO","body":"` + inNordic + `"}`, `{"nb":"` + inNordic + `"}`},
		{"translations", `{"title":{"en":"Jellyfish","fr":"Méduses"},"body":{"en":"` + inEnglish + `","fr":"` + inFrench + `"}}`,
			`{"fr":"Méduses\n\n` + inFrench + `"}`},
		{"names of members with languages", `{"title_en":"Jellyfish","title_fr":"Méduses","body_en":"` + inEnglish + `","body_fr":"` + inFrench + `"}`,
			`{"fr":"Méduses\n\n` + inFrench + `"}`},
		{"parts with languages", `{"parts":[{"lang":"fr","head":"Méduses","body":"` + inFrench + `"},{"lang":"en","head":"Jellyfish","body":"` + inEnglish + `"}]}`,
			`{"fr":"Méduses\n\n` + inFrench + `"}`},
		{"other names of an English report", `{"title":"Tokyo","names":["東京","Токио","طوكيو"],"body":"` + inEnglish + `"}`, ``},
		{"a short title alone", `{"title":"Grève des trains à Lyon"}`, `{"fr":"Grève des trains à Lyon"}`},
		{"a name alone", `{"title":"La Paz"}`, ``},
		{"a language that index.json lacks", `{"body":"W piątek przed ministerstwem odbędą się demonstracje i należy omijać ten rejon."}`, ``},
	} {
		if got, _ := field(t, builtinSet(t), "text_in", c.record); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestTextInOfOwnIndex: the languages are those of index.json.
func TestTextInOfOwnIndex(t *testing.T) {
	record := `{"body":"` + inFrench + `"}`
	for _, c := range []struct{ old, new, want string }{
		{`"fr": {"type": "text"`, `"pl": {"type": "text"`, ``},
		{`"text_in": {`, `"text_elsewhere": {`, ``},
	} {
		files := builtinFiles(t)
		files["index.json"] = &fstest.MapFile{Data: []byte(strings.Replace(string(files["index.json"].Data), c.old, c.new, 1))}
		s, err := Load(files)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := field(t, s, "text_in", record); got != c.want {
			t.Errorf("with %s: got %s, want %s", c.new, got, c.want)
		}
	}
}

func TestExplainLanguages(t *testing.T) {
	var got []string
	for _, record := range []string{`{"body":"` + inFrench + `"}`, `{"lang":"nb","body":"` + inNordic + `"}`, `{"lang":"sv","title":"Manet"}`, `{"body":"地铁二号线今天上午停运,乘客可以换乘公交车。"}`} {
		fields, err := builtinSet(t).Explain(report.Advisories, []byte(record))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			if f.Because != "" {
				got = append(got, f.Field+": "+f.Because)
			}
		}
	}
	want := []string{
		"text_in.fr: its words: sont, à, des, et, les", "text_in.nb: its words: er, og, det",
		"text_in.sv: the record states this language", "text_in.zh: its script",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLanguagesOfLargeRecords: the time grows with the length of a record, not with its square.
func TestLanguagesOfLargeRecords(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"lang":"fr","body":"` + inFrench + `"`)
	for i := range 50_000 {
		fmt.Fprintf(&b, `,"n%d":"w %d"`, i, i)
	}
	b.WriteString("}")
	if got, _ := field(t, builtinSet(t), "text_in", b.String()); !strings.Contains(got, "w 49999") {
		t.Errorf("got %.200s", got)
	}
}
