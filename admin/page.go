package admin

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"riskdex/internal/problem"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/julienschmidt/httprouter"

	"riskdex/internal/sanitize"
	"riskdex/report"
	"riskdex/search"
)

//go:embed page
var pageFiles embed.FS

// page is the status page. It works without scripts; its only script reloads it.
type page struct {
	status *statuses
	token  string // of this process, in every form: only a client that has read the page can press its buttons
	html   *template.Template

	searches readLimit // of searches that are under way
}

func newPage(status *statuses) *page {
	p := &page{status: status, token: rand.Text(), searches: make(readLimit, mostSearches)}
	p.html = template.Must(template.New("").Funcs(template.FuncMap{
		"id":      func(id string) string { return sanitize.ID(longestID, id) },
		"text":    func(text any) string { return sanitize.Text(longestText, fmt.Sprint(text)) },
		"ref":     func(id any) string { return base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprint(id))) },
		"pieces":  pieces,
		"comma":   func(n int) string { return humanize.Comma(int64(n)) },
		"bytes":   func(n int64) string { return humanize.IBytes(uint64(max(n, 0))) },
		"size":    func(n int) string { return humanize.IBytes(uint64(max(n, 0))) },
		"clock":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
		"ago":     func(t time.Time) string { return humanize.RelTime(t, status.Status.Now(), "ago", "from now") },
		"capital": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		"lag":     lagText,
		"line":    sparkline,
		"anchor":  anchor,
		"others":  func(d report.Answered) int { return d.Accepted + d.Refused - 1 },
		"share":   func(part, whole int64) int64 { return min(100, 100*part/max(whole, 1)) },
		"percent": percentText,
		"record":  recordText,
		"json":    prettyJSON,
		"titled":  titleOf,
		"score":   func(s float64) string { return humanize.CommafWithDigits(s, 1) },
		"facet":   func(field string) string { return strings.ReplaceAll(field, "_", " ") },
		"last":    func(hits []search.Hit) int { return len(hits) - 1 },
		"hits":    func() int { return searchPage },
		"done":    func(r report.Rebuild) int { return r.Total - max(r.Remaining, 0) },
	}).ParseFS(pageFiles, "page/*.html"))
	return p
}

// The longest texts that are shown, in characters.
const (
	longestText = 400                   // of a reason
	longestID   = 2 * report.MaxIDBytes // enough for every valid id, escaped; what unauthenticated senders send as one may be longer
)

// percentText returns a share for people to read. Only all of them are 100 %, and only none are 0 %.
func percentText(part, whole int) string {
	switch {
	case part > 0 && 100*part < whole:
		return "under 1 %"
	case part < whole && 100*part >= 99*whole:
		return "over 99 %"
	}
	return fmt.Sprintf("%d %%", 100*part/max(whole, 1))
}

// lagText returns a lag for people to read.
func lagText(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d == 0:
		return "none"
	case d < time.Second:
		return "under 1 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

func (p *page) register(router *httprouter.Router, lookups lookups) {
	router.HandlerFunc(http.MethodGet, "/", p.show)
	router.HandlerFunc(http.MethodGet, "/search", p.search)
	router.HandlerFunc(http.MethodGet, "/runbook", p.runbook)
	if p.status.Documents != nil {
		router.Handler(http.MethodGet, "/document", lookups.handler("/document", http.HandlerFunc(p.document)))
	}
	for path, content := range map[string]string{"style.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "land.svg": "image/svg+xml"} {
		body, err := pageFiles.ReadFile("page/" + path)
		if err != nil {
			panic(err) // it is part of the program
		}
		router.HandlerFunc(http.MethodGet, "/"+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", content)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Cache-Control", "no-cache")
			_, _ = w.Write(body)
		})
	}
	p.registerForms(router)
}

// view is what the templates show.
type view struct {
	Status   Status
	Token    string // of the buttons
	Done     string // what a button has done
	Words    string // of the search
	Trial    *trial
	Failed   *Problem    // why a button or a search failed
	Of       report.Kind // of the document that is looked up
	Name     string      // likewise
	Document *Document
	Past     *Past // of it; nil if there is none
	Kinds    []report.Kind
	LooksUp  bool // documents can be looked up

	Runbook template.HTML
}

func (p *page) view() view {
	return view{Kinds: report.Kinds(), Token: p.token, LooksUp: p.status.Documents != nil}
}

func (p *page) show(w http.ResponseWriter, r *http.Request) {
	v := p.view()
	v.Status = p.status.now(r.Context())
	v.Done = doneTexts[r.URL.Query().Get("done")]
	p.write(w, http.StatusOK, "status.html", v)
}

// write sends a complete page, or an error.
func (p *page) write(w http.ResponseWriter, status int, name string, v view) {
	var body bytes.Buffer
	if err := p.html.ExecuteTemplate(&body, name, v); err != nil {
		p.status.Log.Error("a page could not be made", "page", name, "error", err)
		writeProblem(w, &Problem{Status: http.StatusInternalServerError, Detail: "The page could not be made: " + err.Error()})
		return
	}
	h := w.Header()
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", problem.RetryAfter)
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Frame-Options", "DENY")
	// With no-referrer, browsers would send "Origin: null" with forms.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "+
		"img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w)
}
