package searchapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"riskdex/elastic"
	"riskdex/internal/problem"
	"riskdex/internal/testkit/openapitest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
	"riskdex/search"
)

// desk is an index of a test, and what asks it.
type desk struct {
	t      *testing.T
	cfg    Config
	reg    *prometheus.Registry
	server *Server

	mu     sync.Mutex // of asked and pings
	asked  []search.Query
	answer func(context.Context, search.Query) (search.Result, error)
	silent time.Time
	gone   error // what Ping says
	takes  time.Duration
	pings  int
	now    time.Time
}

func (d *desk) Ask(ctx context.Context, q search.Query) (search.Result, error) {
	d.mu.Lock()
	d.asked = append(d.asked, q)
	d.mu.Unlock()
	return d.answer(ctx, q)
}

func (d *desk) SilentSince() time.Time { return d.silent }

func (d *desk) Ping(ctx context.Context) error {
	d.mu.Lock()
	d.pings++
	d.mu.Unlock()
	if d.takes > 0 {
		select {
		case <-time.After(d.takes):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return d.gone
}

func (d *desk) Source(_ context.Context, key report.Key) (jsontext.Value, error) {
	if key != (report.Key{Kind: report.Cities, ID: "a/b c"}) {
		return nil, nil
	}
	return jsontext.Value(`{"id":"a/b c","kind":"cities","title":"<b>","country":"FR","names_known":"x","places":{"name":"y"},"version":12345678901234567,"source":{"n":1.50}}`), nil
}

func openDesk(t *testing.T, change func(*Config)) *desk {
	d := &desk{t: t, reg: prometheus.NewRegistry(), now: time.Unix(1_800_000_000, 0)}
	d.answer = func(context.Context, search.Query) (search.Result, error) {
		return search.Result{Total: 1, AsTyped: true, Hits: []search.Hit{{ID: "1", Fields: search.Fields{
			Kind: report.Cities, Title: "Lyon", Summary: "1 < 2", Countries: []string{"FR"}, Location: &search.Point{Latitude: 45.76, Longitude: 4.84},
		}}}, Facets: map[string][]search.Count{"threats": nil, "country": {{Value: "FR", Documents: 1}}}}, nil
	}
	d.cfg = Config{
		Network: func(r *http.Request) string { return r.RemoteAddr }, Timeout: time.Minute, Now: func() time.Time { return d.now },
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&d.cfg)
	}
	d.server = New(d.cfg, d, d.reg)
	return d
}

// get makes a request with headers, each as Name: value.
func (d *desk) get(method, path string, headers ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequestWithContext(d.t.Context(), method, path, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	d.server.ServeHTTP(w, r)
	return w
}

func (d *desk) fails(status int, reason string, w *httptest.ResponseRecorder) {
	d.t.Helper()
	var p problem.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != status || p.Status != status || p.Reason != reason || p.Detail == "" || w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Cache-Control") != "no-store" {
		d.t.Errorf("status %d, %v, %s, want %d %s", w.Code, w.Header(), w.Body, status, reason)
	}
}

func TestAnswersAreSmallAndTheSame(t *testing.T) {
	d := openDesk(t, nil)
	w := d.get("GET", "/v1/search?q=lyon&near=45.7,4.8&country=fr")
	const want = `{"total":1,"more":false,"hits":[{"kind":"cities","id":"1","title":"Lyon","country":["FR"],"threats":[],"received_at":"","location":{"lat":45.76,"lon":4.84},"nearest":{"location":{"lat":45.76,"lon":4.84}},"distance_km":7.36,"snippet":"1 &lt; 2"}],"facets":{"country":[{"value":"FR","count":1}],"threats":[]},"no_report":false}`
	if got := w.Body.String(); w.Code != http.StatusOK || got != want+"\n" {
		t.Errorf("%d %s", w.Code, got)
	}
	if q := d.asked[0]; !q.Facets || q.Complete || q.Countries[0] != "FR" || !slices.Contains(q.Fields, "places.location") {
		t.Errorf("asked %+v", q)
	}
	if got := d.get("GET", "/v1/complete?q=ly").Body.String(); got != `{"hits":[{"kind":"cities","id":"1","title":"Lyon","country":["FR"]}]}`+"\n" || !d.asked[1].Complete {
		t.Errorf("a completion is %s", got)
	}
	tag := w.Header().Get("ETag")
	if again := d.get("GET", "/v1/search?q=lyon&near=45.7,4.8&country=fr", "If-None-Match: "+tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 || tag == "" {
		t.Errorf("the same is answered with %d, %s", again.Code, again.Body)
	}
	if head := d.get("HEAD", "/v1/search?q=x"); head.Code != http.StatusOK || head.Header().Get("Cache-Control") != "max-age=10" {
		t.Errorf("HEAD is answered with %d, %v", head.Code, head.Header())
	}
	const document = `{"airports":[],"country":["FR"],"id":"a/b c","kind":"cities","names":[],"places":[{"name":"y"}],"threats":[],"title":"<b>","version":12345678901234567}`
	if got := d.get("GET", "/v1/documents/cities/a%2Fb%20c").Body.String(); got != document+"\n" {
		t.Errorf("the document is %s", got)
	}
	shown := openDesk(t, func(c *Config) { c.ShowSource = true })
	if got := shown.get("GET", "/v1/documents/cities/a/b%20c").Body.String(); !strings.Contains(got, `"source":{"n":1.50}`) {
		t.Errorf("the document with its source is %s", got)
	}
}

func TestNoReportIsToldFromSimilarOnes(t *testing.T) {
	d := openDesk(t, func(c *Config) { c.Missed = new(search.Missed) })
	for _, c := range []struct {
		path    string
		total   int
		asTyped bool
		want    bool
	}{{"?q=x", 1, true, false}, {"?q=x", 1, false, true}, {"?q=x", 0, false, true}, {"?q=x&from=10", 1, false, false}, {"?country=FR", 1, false, false}, {"?country=FR", 0, false, false}} {
		d.answer = func(context.Context, search.Query) (search.Result, error) {
			return search.Result{Total: c.total, AsTyped: c.asTyped}, nil
		}
		if got := strings.Contains(d.get("GET", "/v1/search"+c.path).Body.String(), `"no_report":true`); got != c.want {
			t.Errorf("%+v: no_report is %v", c, got)
		}
	}
	var counted dto.Metric
	if err := d.server.empty.Write(&counted); err != nil || counted.GetCounter().GetValue() != 1 {
		t.Errorf("searches without hits: %v, %v", counted.GetCounter(), err)
	}
	d.get("GET", "/v1/search?country=FR&q=x")
	for n := range 1000 { // the last of which takes the place of the first
		d.now = d.now.Add(time.Second)
		d.get("GET", "/v1/search?q="+strconv.Itoa(n+1))
	}
	kept := d.cfg.Missed.List()
	if len(kept) != 1000 || kept[0].Words != "1000" || kept[999].Words != "1" {
		t.Errorf("%d words are kept, %+v to %+v", len(kept), kept[0], kept[len(kept)-1])
	}
	d.get("GET", "/v1/search?q=7")
	if kept = d.cfg.Missed.List(); kept[0] != (search.Miss{Words: "7", Searches: 2, Last: d.now}) {
		t.Errorf("the most frequent is %+v", kept[0])
	}
}

func TestMistakes(t *testing.T) {
	d := openDesk(t, nil)
	for _, path := range []string{"/v1/search?kind=towns", "/v1/search?size=101", "/v1/search?risk_level=6", "/v1/search?risk_level=2,high", "/v1/search?nearby=1", "/v1/search?q=%zz", "/v1/search?q=a;b", "/v1/search?near=1,1&within_km=1e306", "/v1/search?valid_on=9999-12-31T23:59:59-23:59", "/v1/documents/cities/1?x=1"} {
		d.fails(http.StatusBadRequest, "mistake", d.get("GET", path))
	}
	d.fails(http.StatusNotFound, "no_document", d.get("GET", "/v1/documents/cities/2"))
	d.fails(http.StatusBadRequest, "mistake", d.get("GET", "/v1/documents/towns/2"))
	d.fails(http.StatusNotFound, "", d.get("GET", "/v1/searches"))
	w := d.get("POST", "/v1/search")
	d.fails(http.StatusMethodNotAllowed, "", w)
	if allow := w.Header().Get("Allow"); allow != "GET, HEAD, OPTIONS" {
		t.Errorf("Allow is %s", allow)
	}
}

// TestElasticsearchStaysBehind: whatever it answers, apps learn only that there is no answer.
func TestElasticsearchStaysBehind(t *testing.T) {
	d := openDesk(t, nil)
	d.answer = func(context.Context, search.Query) (search.Result, error) {
		return search.Result{}, errors.New("http://user:secret@inside: index_closed_exception")
	}
	w := d.get("GET", "/v1/search?q=x")
	d.fails(http.StatusServiceUnavailable, "away", w)
	if strings.Contains(w.Body.String(), "inside") || w.Header().Get("Retry-After") == "" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	d.fails(http.StatusServiceUnavailable, "away", d.get("GET", "/readyz"))
	var log bytes.Buffer
	d.server.Log = slog.New(slog.NewTextHandler(&log, nil))
	for said, want := range map[int]string{401: "502 no_access", 403: "502 no_access", 404: "503 no_index", 400: "502 refused", 429: "503 busy", 500: "503 away"} {
		d.answer = func(context.Context, search.Query) (search.Result, error) {
			return search.Result{}, fmt.Errorf("searching: %w", &elastic.ResponseError{Status: said, Reason: "inside"})
		}
		status, reason, _ := strings.Cut(want, " ")
		code, _ := strconv.Atoi(status)
		log.Reset()
		d.now = d.now.Add(time.Minute)
		w := d.get("GET", "/v1/search?q=x")
		if refuses := strings.Contains(log.String(), "Elasticsearch refuses searches of apps"); refuses != (code == http.StatusBadGateway) {
			t.Errorf("%d: %s", said, &log)
		}
		d.fails(code, reason, w)
		if strings.Contains(w.Body.String(), "inside") {
			t.Errorf("%s", w.Body)
		}
	}
	if w := d.get("GET", "/livez"); w.Body.String() != "ok\n" {
		t.Errorf("/livez: %s", w.Body)
	}
}

// TestSearchesAreBounded: in time, and in their number; one that hangs is noticed before its time is up.
func TestSearchesAreBounded(t *testing.T) {
	slow := openDesk(t, func(c *Config) { c.Timeout = time.Millisecond })
	slow.answer = func(ctx context.Context, _ search.Query) (search.Result, error) {
		<-ctx.Done()
		return search.Result{}, ctx.Err()
	}
	slow.fails(http.StatusServiceUnavailable, "too_slow", slow.get("GET", "/v1/search?q=x"))
	for range mostAtOnce {
		slow.server.slots <- struct{}{}
	}
	slow.fails(http.StatusServiceUnavailable, "busy", slow.get("GET", "/v1/search?q=x"))

	hangs := openDesk(t, nil)
	answers := hangs.answer
	hangs.answer, hangs.gone, hangs.silent = slow.answer, errors.New("gone"), hangs.now.Add(-time.Second)
	for range 3 { // the others at once
		hangs.fails(http.StatusServiceUnavailable, "away", hangs.get("GET", "/v1/search?q=x"))
	}
	if len(hangs.asked) != 1 || hangs.pings != 1 {
		t.Errorf("while it hangs, Elasticsearch is asked %d times and pinged %d times", len(hangs.asked), hangs.pings)
	}
	hangs.now = hangs.now.Add(time.Second)
	hangs.fails(http.StatusServiceUnavailable, "away", hangs.get("GET", "/v1/search?q=x"))
	hangs.answer, hangs.gone, hangs.now = answers, nil, hangs.now.Add(time.Second)
	if w := hangs.get("GET", "/v1/search?q=x"); w.Code != http.StatusOK || hangs.pings != 3 {
		t.Errorf("after it hung: %d after %d pings", w.Code, hangs.pings)
	}
}

// TestSlowAnswerEndsAnAbsence, also if the client that looks has hung up; the others do not wait.
func TestSlowAnswerEndsAnAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, nil)
		d.takes, d.server.circuit.away = hangs-time.Millisecond, true
		ctx, hangUp := context.WithCancel(t.Context())
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			d.server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/v1/search?q=x", nil))
		}()
		synctest.Wait()
		hangUp()
		synctest.Wait()
		d.now = d.now.Add(lookAgain)
		d.fails(http.StatusServiceUnavailable, "away", d.get("GET", "/v1/search?q=x"))
		<-looked
		if w := d.get("GET", "/v1/search?q=x"); w.Code != http.StatusOK || d.pings != 1 {
			t.Errorf("after it answered: %d after %d pings", w.Code, d.pings)
		}
	})
}

// TestHangIsNoticedHoweverShortClientsWait, by one look for all of them.
func TestHangIsNoticedHoweverShortClientsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, nil)
		d.silent, d.takes = d.now.Add(-time.Second), time.Hour
		d.answer = func(ctx context.Context, _ search.Query) (search.Result, error) {
			<-ctx.Done()
			return search.Result{}, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range mostAtOnce - 1 {
			go d.server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/v1/search?q=x", nil))
		}
		time.Sleep(lookAfter + hangs)
		d.fails(http.StatusServiceUnavailable, "away", d.get("GET", "/v1/search?q=x"))
		if d.pings != 1 {
			t.Errorf("%d searches ping %d times", mostAtOnce, d.pings)
		}
	})
}

func TestClientOverItsRateHarmsNoOther(t *testing.T) {
	d := openDesk(t, func(c *Config) {
		c.MaxRate, c.Network = 2, func(r *http.Request) string { return r.Header.Get("X-Client") }
	})
	for range 2 {
		d.get("GET", "/v1/search?q=x", "X-Client: a")
	}
	w := d.get("GET", "/v1/search?q=x", "X-Client: a")
	d.fails(http.StatusTooManyRequests, "too_many", w)
	if w.Header().Get("Retry-After") != "1" || len(d.asked) != 2 {
		t.Errorf("Retry-After is %q after %d searches", w.Header().Get("Retry-After"), len(d.asked))
	}
	if other := d.get("GET", "/v1/search?q=x", "X-Client: b"); other.Code != http.StatusOK {
		t.Errorf("another client gets %d", other.Code)
	}
	if d.now = d.now.Add(time.Second); d.get("GET", "/v1/search?q=x", "X-Client: a").Code != http.StatusOK {
		t.Error("a second later, the client still waits")
	}
}

func TestKeys(t *testing.T) {
	var closed error
	d := openDesk(t, func(c *Config) {
		c.MaxRate, c.Origins = 1, []string{"https://app.example"}
		c.Allow = func(key string) (bool, error) { return key == "k1" || key == "k2", closed }
	})
	w := d.get("GET", "/v1/search?q=x", "Origin: https://app.example")
	d.fails(http.StatusUnauthorized, "no_key", w)
	if w.Header().Get("WWW-Authenticate") == "" || w.Header().Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("the page of an app cannot read that it needs a key: %v", w.Header())
	}
	for _, key := range []string{"k1", "k2"} { // each with a rate of its own
		if w := d.get("GET", "/v1/search?q=x", "Authorization: Bearer "+key); w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "private, max-age=10" {
			t.Errorf("%s: %d %v", key, w.Code, w.Header())
		}
	}
	d.fails(http.StatusUnauthorized, "no_key", d.get("GET", "/v1/search?q=x", "Authorization: Basic k1"))
	if w := d.get("GET", "/livez"); w.Code != http.StatusOK {
		t.Errorf("/livez without a key: %d", w.Code)
	}
	closed = errors.New("no file")
	d.fails(http.StatusServiceUnavailable, "", d.get("GET", "/v1/search?q=x", "Authorization: Bearer k1"))
}

func TestPagesOfOtherOrigins(t *testing.T) {
	d := openDesk(t, func(c *Config) { c.Origins = []string{"https://app.example"} })
	asks := d.get("OPTIONS", "/v1/search", "Origin: https://app.example", "Access-Control-Request-Method: GET")
	if h := asks.Header(); asks.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "https://app.example" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("%d %v", asks.Code, h)
	}
	if got := d.get("GET", "/v1/search?q=x", "Origin: https://evil.example").Header().Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("a page of nobody reads answers: %q", got)
	}
	open := openDesk(t, func(c *Config) { c.Origins = []string{"*"} })
	if got := open.get("GET", "/v1/search?q=x", "Origin: null").Header().Get("Access-Control-Allow-Origin"); got != "null" {
		t.Errorf("every origin may read, and null gets %q", got)
	}
}

func TestLongAnswersAreCompressed(t *testing.T) {
	d := openDesk(t, nil)
	plain := d.get("GET", "/openapi.yaml").Body.String()
	w := d.get("GET", "/openapi.yaml", "Accept-Encoding: br, gzip")
	z, err := gzip.NewReader(w.Body)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	if string(text) != plain || plain != string(description) || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%v, %d bytes, %d plain", w.Header(), len(text), len(plain))
	}
	for _, none := range []string{"gzip;q=0", "identity", ""} {
		if got := d.get("GET", "/openapi.yaml", "Accept-Encoding: "+none).Header().Get("Content-Encoding"); got != "" {
			t.Errorf("%q gets %s", none, got)
		}
	}
}

func TestDescriptionHasEveryCall(t *testing.T) {
	d := openapitest.Read(t, "openapi.yaml")
	if got, want := d.Operations(nil), openapitest.Routes(openDesk(t, nil).server.router); !slices.Equal(got, want) {
		t.Errorf("openapi.yaml describes\n%q, there are\n%q", got, want)
	}
	for _, value := range []any{Found{}, Completed{}, Count{}, Hit{}, Suggestion{}, problem.Problem{}, search.Point{}, search.Place{}, search.Absent{}} {
		name := reflect.TypeOf(value).Name()
		d.Components.Schemas[name].Compare(t, name, reflect.TypeOf(value))
	}
	var lists []string
	for name, is := range documentFields() {
		if is {
			lists = append(lists, name)
		}
	}
	schema := d.Components.Schemas["Document"]
	if got, want := slices.Sorted(maps.Keys(schema.Properties)), slices.Sorted(maps.Keys(documentFields())); !slices.Equal(slices.DeleteFunc(got, func(n string) bool { return n == "source" }), want) {
		t.Errorf("a document has %q, described are %q", want, got)
	}
	for _, name := range lists {
		if !slices.Contains(schema.Required, name) {
			t.Errorf("%s is always there", name)
		}
	}
	for _, client := range []string{"swift/RiskdexSearch.swift", "kotlin/RiskdexSearch.kt"} { // which nothing here compiles
		text, err := os.ReadFile("../../examples/" + client)
		require.NoError(t, err)
		for _, name := range []string{"Found", "Hit", "Place"} {
			for member := range d.Components.Schemas[name].Properties {
				parts := strings.Split(member, "_")
				for i := range parts[1:] {
					parts[i+1] = strings.ToUpper(parts[i+1][:1]) + parts[i+1][1:]
				}
				if camel := strings.Join(parts, ""); !regexp.MustCompile(`\b` + camel + `\b`).Match(text) {
					t.Errorf("%s lacks %s of %s", client, camel, name)
				}
			}
		}
	}
	names := d.Queries()["GET /v1/search"]
	for _, name := range names {
		if w := openDesk(t, nil).get("GET", "/v1/search?"+name+"="); w.Code != http.StatusOK {
			t.Errorf("%s is described, and answered with %s", name, w.Body)
		}
	}
}

// TestWhoHangsUpIsNoFailure: a search whose client is gone is not told as one that failed.
func TestWhoHangsUpIsNoFailure(t *testing.T) {
	d := openDesk(t, nil)
	ctx, hangUp := context.WithCancel(t.Context())
	d.answer = func(ctx context.Context, _ search.Query) (search.Result, error) {
		hangUp()
		<-ctx.Done()
		return search.Result{}, ctx.Err()
	}
	w := httptest.NewRecorder()
	d.server.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/search?q=lon", nil))
	if w.Code != statusGone {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

// TestProbesTakeLittle: whoever asks whether searches are answered needs no key, so it is looked at once a
// second, and nobody keeps the answer.
func TestProbesTakeLittle(t *testing.T) {
	d := openDesk(t, nil)
	for range 3 {
		if w := d.get(http.MethodGet, "/readyz"); w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("answered %d with %v", w.Code, w.Header())
		}
	}
	if len(d.asked) != 1 {
		t.Errorf("%d searches were made", len(d.asked))
	}
	d.now = d.now.Add(time.Second)
	d.get(http.MethodGet, "/readyz")
	if len(d.asked) != 2 {
		t.Errorf("%d searches were made after a second", len(d.asked))
	}
}
