package mappings

import (
	"fmt"
	"strings"
	"testing"

	"riskdex/report"
	"riskdex/search"
)

const sentence = "Demonstrations are expected near the ministry on Friday; avoid the area, and allow two hours more to the airport. "

// Sections of a city report, of about 1 KB each: a few long paragraphs, the output of a web
// editor, and plain text.
func proseHTML() string {
	return "<p>" + strings.Repeat(sentence, 4) + "</p><p>It&rsquo;s <b>" + strings.Repeat(sentence, 5) + "</b></p>\\n"
}

func denseHTML() string {
	item := `<li class=\"item\"><strong>By day:</strong>&nbsp;avoid the <a href=\"https://example.org/a?b=1&amp;c=2\">caf\u00e9</a> quarter &ndash; it&rsquo;s busy.</li>\n`
	return `<h3 id=\"safety\">Safety &amp; crime</h3>\n<p>` + sentence + `<br/>São Paulo’s centre is quiet.</p>\n<ul>\n` + strings.Repeat(item, 6) + `</ul>`
}

func plainText() string { return strings.Repeat(sentence, 4) + `\n\n` + strings.Repeat(sentence, 5) }

// bigCity is about 40 KB: chapters and a map.
func bigCity(text string) string {
	var b strings.Builder
	b.WriteString(`{"id": 130, "code": "LON", "name": "London", "country": "gb", "airports": "LHR,LGW", "risk_level": {"id": "3", "name": "Medium"}, "geo": {"lat": 51.5, "lng": -0.12}, "chapters": [`)
	for chapter := range 8 {
		if chapter > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"id": %d, "title": "Chapter %d", "sections": [`, chapter, chapter)
		for section := range 4 {
			if section > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, `{"title": "Section %d", "text": "%s"}`, section, text)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`], "map": [`)
	for i := range 60 {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"name": "Hospital %d", "lat": 51.%d, "lng": -0.%d}`, i, i, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

// smallAdvisory is about 4 KB of plain text.
func smallAdvisory() string {
	return `{"id":12,"title":"Rail strike","risk_level":2,"country":"FR","duration":{"start_date":"2026-07-30","end_date":"2026-07-31"},"cities":[{"name":"Lille","code":"LIL"}],"text":"` +
		strings.Repeat(sentence, 20) + `","advice":"` + strings.Repeat(sentence, 12) + `"}`
}

func BenchmarkAppendDocument(b *testing.B) {
	s := builtinSet(b)
	for _, r := range []struct {
		name string
		c    report.Change
	}{
		{"city/html", change(report.Cities, "130", bigCity(proseHTML()))},
		{"city/dense-html", change(report.Cities, "130", bigCity(denseHTML()))},
		{"city/plain", change(report.Cities, "130", bigCity(plainText()))},
		{"advisory/plain", change(report.Advisories, "12", smallAdvisory())},
		{"pdf", change(report.Cities, "1", `{"id":1,"file":"`+strings.Repeat("JVBERi0x", 100_000)+`"}`)},
	} {
		c := r.c
		b.Run(r.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.Body)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				var err error
				if dst, _, err = s.AppendDocument(dst[:0], c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWordsOfNames measures what it costs to read names by their words, on records in
// which pointers lead to every field.
func BenchmarkWordsOfNames(b *testing.B) {
	off, on := builtinSet(b), builtinSet(b)
	for _, kind := range report.Kinds() {
		off.kinds[kind].stated.book = nil
	}
	for _, r := range []struct {
		name string
		c    report.Change
	}{
		{"city", change(report.Cities, "130", bigCity(plainText()))},
		{"advisory", change(report.Advisories, "12", smallAdvisory())},
	} {
		for name, s := range map[string]*Set{"off": off, "on": on} {
			b.Run(r.name+"/"+name, func(b *testing.B) {
				var dst []byte
				for b.Loop() {
					var err error
					if dst, _, err = s.AppendDocument(dst[:0], r.c); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkShapes measures what it costs to tell the shape of a record, and to see it come.
func BenchmarkShapes(b *testing.B) {
	s := builtinSet(b)
	if told, _ := s.See(report.Cities, unnamed(mature), true); told == "" {
		b.Fatal("nothing is told")
	}
	seen := []report.Change{change(report.Cities, "130", bigCity(plainText()))}
	b.Run("see", func(b *testing.B) {
		b.SetBytes(int64(len(seen[0].Body)))
		for b.Loop() {
			s.See(report.Cities, seen, true)
		}
	})
	for name, by := range map[string]*shapes{"one shape": s.shapes(report.Cities), "none": {stated: s.kinds[report.Cities].stated}} {
		b.Run(name, func(b *testing.B) {
			x := s.extractors.Get().(*extractor)
			for b.Loop() {
				if err := x.tree.parse(seen[0].Body); err != nil {
					b.Fatal(err)
				}
				x.open(by)
			}
		})
	}
}

// BenchmarkInfer reads a sample of as many records as are kept, as large as they are with all chapters.
func BenchmarkInfer(b *testing.B) {
	s := builtinSet(b)
	var records [][]byte
	size := 0
	for _, of := range unnamed(sampleRecords) {
		record := strings.TrimSuffix(string(of.Body), "}") + "," + strings.TrimPrefix(bigCity(plainText()), "{")
		records, size = append(records, []byte(record)), size+len(record)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		if _, _, err := s.Infer(report.Cities, records); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnderstand measures what a search costs before Elasticsearch is asked.
func BenchmarkUnderstand(b *testing.B) {
	w := builtinSet(b).bodies.Witness
	for _, words := range []string{"bedbugs in Paris", "FRA flights cancelled", "is it safe to travel to Nairobbi at the weekend", strings.Repeat("wibblex ", 12)} {
		search.Understand(words, w) // reads the tables
		b.Run(words[:min(len(words), 20)], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				search.Understand(words, w)
			}
		})
	}
}
