package receiver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"riskdex/report"
)

// BenchmarkParse measures checking a body and parsing it into changes.
func BenchmarkParse(b *testing.B) {
	parser, err := newBodyParser(DefaultConfig())
	if err != nil {
		b.Fatal(err)
	}
	record := func(n, size int) string {
		return fmt.Sprintf(`{"id":%d,"code":"LON","title":"A city","text":"%s","risk":{"id":"3","name":"Medium"}}`,
			n, strings.Repeat("Take care at <b>night</b>. ", size/27))
	}
	var all []string
	for n := range 300 {
		all = append(all, record(n, 40<<10))
	}
	for _, c := range []struct {
		name string
		call call
		body string
	}{
		{"PUT/advisory", call{kind: report.Advisories, method: http.MethodPut, pathID: "130"}, record(130, 4<<10)},
		{"PUT/city", call{kind: report.Cities, method: http.MethodPut, pathID: "130"}, record(130, 4<<10)},
		{"POST/300", call{kind: report.Cities, method: http.MethodPost, pathID: ""}, "[" + strings.Join(all, ",") + "]"},
	} {
		b.Run(c.name, func(b *testing.B) {
			body := []byte(c.body)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, p := parser.parse(c.call, body, unbounded); p != nil {
					b.Fatal(p)
				}
			}
		})
	}
}
