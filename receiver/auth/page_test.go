package auth

import (
	"net/http"
	"strings"
	"testing"
)

// TestWebPages sends what browsers send on behalf of pages, and what programs send, both
// to authenticators whose credentials a page can use, and to others.
func TestWebPages(t *testing.T) {
	basic, token := file(t, "riskdex:a-long-password"), file(t, "a-token-of-the-publisher")
	ambient := map[string]*gate{
		"nothing":  start(t, Config{}),
		"address":  start(t, Config{AllowFrom: []string{"127.0.0.1"}}),
		"password": start(t, Config{BasicFiles: []string{basic}}),
	}
	secret := map[string]*gate{
		"token":              start(t, Config{BearerFiles: []string{token}}),
		"address and token":  start(t, Config{AllowFrom: []string{"127.0.0.1"}, BearerFiles: []string{token}}),
		"hub signature":      start(t, Config{HubFiles: []string{file(t, keyTwo)}}),
		"webhook signatures": start(t, Config{WebhookFiles: []string{file(t, keyOne)}}),
	}
	const here, name = "127.0.0.1:8080", "rebound.example:8080"
	for what, c := range map[string]struct {
		method, host string
		header       []string
		page         bool
	}{
		"a form of another site":               {"POST", here, []string{"Origin", "http://evil.example", "Content-Type", "text/plain"}, true},
		"a script of another site":             {"PUT", here, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, true},
		"another port":                         {"POST", here, []string{"Origin", "http://127.0.0.1:8081", "Sec-Fetch-Site", "same-site"}, true},
		"a hidden origin":                      {"POST", here, []string{"Origin", "null"}, true},
		"a rebound name, PUT":                  {"PUT", name, []string{"Origin", "http://" + name}, true},
		"a rebound name, DELETE":               {"DELETE", name, []string{"Origin", "http://" + name, "Sec-Fetch-Site", "same-origin"}, true},
		"a rebound name behind another host":   {"DELETE", here, []string{"Origin", "http://" + name}, true},
		"a program":                            {"PUT", here, nil, false},
		"a program, by name":                   {"DELETE", "riskdex.internal", nil, false},
		"a program, through a proxy":           {"POST", "feeds.example.com", []string{"X-Forwarded-Host", "a.example", "X-Forwarded-For", "127.0.0.1"}, false},
		"fetch of Node.js, by name":            {"POST", "riskdex:8080", []string{"Accept-Language", "*", "Sec-Fetch-Mode", "cors", "User-Agent", "node"}, false},
		"a page of the same address and port":  {"PUT", here, []string{"Origin", "http://" + here, "Sec-Fetch-Site", "same-origin"}, false},
		"a page on localhost":                  {"PUT", "localhost:8080", []string{"Origin", "http://localhost:8080"}, false},
		"a browser's question before a script": {"OPTIONS", here, []string{"Origin", "http://evil.example"}, false}, // it is not told that it may
	} {
		for at, g := range ambient {
			want := Cause("")
			if c.page {
				want = CauseWebPage
			}
			if got := g.from(c.method, c.host, append(c.header, "Authorization", "Basic cmlza2RleDphLWxvbmctcGFzc3dvcmQ=")...); got != want {
				t.Errorf("%s, where %s is required: %q, want %q", what, at, got, want)
			}
		}
		for at, g := range secret {
			header := append(c.header, "Authorization", "Bearer a-token-of-the-publisher")
			if strings.Contains(at, "signature") {
				continue // no page can make one; a request without one is refused because of that
			}
			if got := g.from(c.method, c.host, header...); got != "" {
				t.Errorf("%s, where %s is required and present: %q, want it accepted", what, at, got)
			}
		}
	}
	for at, g := range secret {
		if got := g.from("POST", here, "Origin", "http://evil.example"); got != CauseMissing {
			t.Errorf("a page without the required credentials, %s: %q", at, got)
		}
	}
	if ambient["nothing"].authenticator.Required() || !ambient["address"].authenticator.Required() {
		t.Error("refusing web pages counts as a required credential")
	}
}

// from sends a request under a host, and returns the cause of its refusal.
func (g *gate) from(method, host string, header ...string) Cause {
	g.t.Helper()
	req, err := http.NewRequest(method, g.server.URL+"/cities/130", strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Host = host
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := g.server.Client().Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	res.Body.Close()
	return Cause(res.Header.Get("Cause"))
}
