package main

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
)

// TestMalformedHTTP sends requests whose end is ambiguous, and bytes that are not requests.
// Only the first request of a connection, as this server reads it, may result in a
// document, and nothing may end the process.
func TestMalformedHTTP(t *testing.T) {
	a := attack(t, elastictest.URL(t), "text")
	const body = `{"title":"` + marker + `"}`
	const small = `{"t":1}` // would be accepted
	var n int
	// Every shape has signatures of its own, so that none is refused as a repeat.
	shown := func(body string) string { n++; return a.shown(fmt.Sprintf("msg_wire_%d", n), body) }
	second := func() string {
		return "PUT /cities/smuggled HTTP/1.1\r\nHost: x\r\n" + shown(small) + "Content-Length: 7\r\n\r\n" + small
	}
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	put := func(headers, rest string) string {
		return "PUT /cities/wire HTTP/1.1\r\nHost: x\r\n" + shown(body) + headers + "\r\n" + rest
	}
	shapes := map[string]struct {
		text    string
		answers string // the statuses, in order
	}{
		"both lengths, chunked wins":     {put("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", chunked+second()), "202"},
		"both lengths, the other way":    {put("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", chunked+second()), "202"},
		"chunked alone":                  {put("Transfer-Encoding: chunked\r\n", chunked+second()), "202"},
		"HTTP/1.0 kept alive, chunked":   {strings.Replace(put("Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n", second()), "1.1", "1.0", 1), "401"},
		"two lengths":                    {put(length+"Content-Length: 3\r\n", body+second()), "400"},
		"two lengths in one":             {put(strings.TrimSpace(length)+", 3\r\n", body+second()), "400"},
		"a signed length":                {put("Content-Length: +2\r\n", "{}"+second()), "400"},
		"a negative length":              {put("Content-Length: -1\r\n", body+second()), "400"},
		"a huge length":                  {put("Content-Length: 99999999999999999999999\r\n", body+second()), "400"},
		"a length of the largest number": {put("Content-Length: 9223372036854775807\r\n", body), "4xx"},
		"a length in hexadecimal":        {put("Content-Length: 0x2\r\n", "{}"+second()), "400"},
		"two encodings":                  {put("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked+second()), "501"},
		"an encoding that hides":         {put("Transfer-Encoding: xchunked\r\n"+length, body+second()), "501"},
		"an encoding after a tab":        {put("Transfer-Encoding:\tchunked\r\nContent-Length: 4\r\n", chunked+second()), "202"},
		"an encoding with a control":     {put("Transfer-Encoding: \x0bchunked\r\n"+length, body+second()), "4xx"},
		"a name with a space":            {put("Transfer-Encoding : chunked\r\n"+length, body+second()), "400"},
		"a name that is folded":          {put("X: a\r\n Transfer-Encoding: chunked\r\n"+length, body), "202"},
		"the first header is folded":     {"PUT /cities/smuggled HTTP/1.1\r\n Host: x\r\n" + shown(small) + "Content-Length: 7\r\n\r\n" + small, "400"},
		"bare line feeds":                {strings.ReplaceAll(put(length, ""), "\r\n", "\n") + body, "202"},
		"bare carriage returns":          {strings.ReplaceAll(put(length, ""), "\r\n", "\r") + body, "400"},
		"a carriage return in a value":   {put("X: a\rTransfer-Encoding: chunked\r\n"+length, body), "400"},
		"a chunk that is too large":      {put("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"+body+"\r\n0\r\n\r\n"+second()), "400"},
		"a chunk that wraps around":      {put("Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n"+body+"\r\n0\r\n\r\n"+second()), "4xx"},
		"a negative chunk":               {put("Transfer-Encoding: chunked\r\n", "-1\r\n"+body+"\r\n0\r\n\r\n"+second()), "400"},
		"a chunk without an end":         {put("Transfer-Encoding: chunked\r\n", "2\r\n{}XX0\r\n\r\n"+second()), "400"},
		"a chunk with a bare line feed":  {put("Transfer-Encoding: chunked\r\n", "2;a=\n\n{}\r\n0\r\n\r\n"+second()), "4xx"},
		"a long chunk extension":         {put("Transfer-Encoding: chunked\r\n", "2;"+strings.Repeat("x", 1<<20)+"\r\n{}\r\n0\r\n\r\n"+second()), "400"},
		"a body that ends early":         {put("Content-Length: 1000\r\n", body), "400"},
		"the second without credentials": {put(length, body+"PUT /cities/smuggled HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n\r\n"+small), "202 401"},
		"no host":                        {strings.Replace(put(length, body), "Host: x\r\n", "", 1), "400"},
		"two hosts":                      {put("Host: y\r\n"+length, body), "400"},
		"a host that is none":            {strings.Replace(put(length, body), "Host: x", "Host: x/../y", 1), "4xx"},
		"an absolute target":             {strings.Replace(put(length, body), "/cities/wire", "http://elsewhere/cities/wire", 1), "202"},
		"a target of another scheme":     {strings.Replace(put(length, body), "/cities/wire", "file:///cities/wire", 1), "202"},
		"CONNECT":                        {"CONNECT 127.0.0.1:9200 HTTP/1.1\r\nHost: 127.0.0.1:9200\r\n\r\n", "401"},
		"CONNECT by the publisher":       {"CONNECT 127.0.0.1:9200 HTTP/1.1\r\nHost: 127.0.0.1:9200\r\n" + shown("") + "\r\n", "4xx"},
		"TRACE":                          {"TRACE /cities/1 HTTP/1.1\r\nHost: x\r\n" + shown("") + "\r\n", "405"},
		"another method in a header":     {"GET /cities/smuggled HTTP/1.1\r\nHost: x\r\nX-HTTP-Method-Override: PUT\r\n" + shown(small) + "Content-Length: 7\r\n\r\n" + small, "405"},
		"a very long target":             {strings.Replace(put(length, body), "/cities/wire", "/cities/"+strings.Repeat("smuggled", 1<<17), 1), "431"},
		"a very long header":             {put("X: "+strings.Repeat("x", 1<<20)+"\r\n"+length, body), "431"},
		"a header without an end":        {put("", "")[:20] + strings.Repeat("x", 1<<20), "4xx"},
		"very many headers":              {put(strings.Repeat("X: y\r\n", 100_000)+length, body), "431"},
		"an upgrade to HTTP/2":           {put("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"+length, body), "202"},
		"the preface of HTTP/2":          {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "4xx"},
		"HTTP/0.9":                       {"GET /cities/1\r\n\r\n", "400"},
		"HTTP/9.9":                       {strings.Replace(put(length, body), "HTTP/1.1", "HTTP/9.9", 1), "505"},
		"a version that is none":         {strings.Replace(put(length, body), "HTTP/1.1", "HTTP/1.1\x00", 1), "400"},
		"NUL in a value":                 {put("X: a\x00b\r\n"+length, body), "400"},
		"NUL in a name":                  {put("X\x00: a\r\n"+length, body), "400"},
		"a control in a value":           {put("X: a\x1b[31mb\r\n"+length, body), "400"},
		"nothing but NUL":                {strings.Repeat("\x00", 4096), "4xx"},
		"the start of TLS":               {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "4xx"},
		"nothing":                        {"", ""},
		"half a line":                    {"PUT /cities/smug", "4xx"},
		"another expectation":            {put("Expect: 200-ok\r\n"+length, body), "417"},
		"a trailer with credentials": {"PUT /cities/smuggled HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n" +
			"7\r\n" + small + "\r\n0\r\n" + shown(small) + "\r\n", "401"},
	}
	for name, shape := range shapes {
		if got := statuses(a.raw(shape.text)); !statusesMatch(got, shape.answers) {
			t.Errorf("%s: answered %q, want %q", name, got, shape.answers)
		}
	}
	a.alive()
	a.drained()
	got := slices.Collect(maps.Keys(a.indexed(report.Cities)))
	slices.Sort(got)
	if want := []string{"alive", "wire"}; !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
	a.unharmed("text")
}

// statuses returns the statuses of all answers on a connection.
func statuses(answers string) string {
	var all []string
	for in := bufio.NewReader(strings.NewReader(answers)); ; {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return strings.Join(all, " ")
		}
		all = append(all, fmt.Sprint(res.StatusCode))
		if res.Body.Close() != nil {
			return strings.Join(all, " ")
		}
	}
}

// statusesMatch reports whether statuses are as wanted. 4xx stands for any of these, or for
// no answer, because the connection may be closed before the answer can be read.
func statusesMatch(got, want string) bool {
	return got == want || want == "4xx" && (got == "" || len(got) == 3 && got[0] == '4')
}
