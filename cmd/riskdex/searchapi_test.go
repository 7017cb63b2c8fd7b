package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/report"
	"riskdex/search/searchapi"
)

// searchAPI is a search API in a process of its own.
type searchAPI struct {
	t     *testing.T
	url   string
	admin string
	run   *running
}

// searchAPI starts one for the indices of p, and waits until it answers.
func (p *process) searchAPI(elasticsearch string, more ...string) *searchAPI {
	p.t.Helper()
	a := &searchAPI{t: p.t, url: freeAddress(p.t), admin: freeAddress(p.t)}
	a.run = &running{cmd: exec.Command(os.Args[0], append([]string{"search-api", "--listen", a.url, "--admin-listen", a.admin, "--elasticsearch-url", elasticsearch, "--index-prefix", p.prefix, "--max-rate", "0"}, more...)...)}
	a.run.cmd.Env, a.run.cmd.SysProcAttr = append(os.Environ(), asRiskdex+"=1"), child.WithParent(&syscall.SysProcAttr{})
	a.run.cmd.Stdout, a.run.cmd.Stderr = &a.run.out, &a.run.errs
	require.NoError(p.t, a.run.cmd.Start())
	a.url = "http://" + a.url
	p.t.Cleanup(func() {
		require.NoError(p.t, a.run.cmd.Process.Signal(syscall.SIGTERM))
		if got := a.run.wait(); got.status != exitDone {
			p.t.Errorf("the search API ended with %d: %s", got.status, got.errs)
		}
	})
	eventually(p.t, "searches are answered", func() bool {
		res, err := http.Get(a.url + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return a
}

// get asks for something, and decodes the answer if it is a success.
func (a *searchAPI) get(path string, v any) int {
	a.t.Helper()
	res, err := http.Get(a.url + path)
	require.NoError(a.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(a.t, err)
	if v != nil && res.StatusCode == http.StatusOK {
		require.NoError(a.t, json.Unmarshal(text, v))
	}
	return res.StatusCode
}

func (a *searchAPI) find(query string) (found searchapi.Found, ids string) {
	a.t.Helper()
	if status := a.get("/v1/search?"+query, &found); status != http.StatusOK {
		a.t.Errorf("%s: %d; %s", query, status, tail(a.run.errs.String(), 5))
	}
	for _, h := range found.Hits {
		ids += " " + string(h.ID)
	}
	return found, strings.TrimSpace(ids)
}

func TestSearchAPI(t *testing.T) {
	p := newSearched(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.send("POST", "/cities", `[{"id":"lyon","code":"LYS","title":"Lyon","country":"FR","risk_level":2,"geo":{"lat":45.76,"lng":4.84},"updated_at":"2026-05-01"},
		{"id":"nice","code":"NCE","title":"Nice","country":"FR","risk_level":3,"geo":{"lat":43.7,"lng":7.27},"published_at":"2026-06-01","updated_at":"1969-01-01"},
		{"id":"bombay","code":"BOM","title":"Mumbai","country":"IN","geo":{"lat":19.08,"lng":72.88},"published_at":"2026-04-01"}]`)
	p.send("POST", "/advisories", `[{"id":"a/b","title":"Rail strike","country":["FR","BE"],"risk_level":4,"updated_at":"2026-05-15","geo":{"lat":50.8,"lng":4.4},
		"places":[{"name":"Villeurbanne","lat":45.77,"lng":4.88}],"body":"Trains stop."}]`)
	p.drained()
	p.indexed(report.Cities)
	p.indexed(report.Advisories)
	a := p.searchAPI(p.elasticsearch, "--show-source", "--keep-missed")
	for query, want := range map[string]string{
		"":                                      "nice a/b lyon bombay", // newest
		"sort=risk":                             "a/b nice lyon bombay",
		"near=45.75,4.8&within_km=30":           "lyon a/b",
		"near=45.75,4.8&within_km=2000":         "lyon a/b nice",
		"near=45.75,4.8&sort=newest":            "a/b lyon",
		"country=fr&kind=cities":                "nice lyon",
		"country=BE,IN":                         "a/b bombay",
		"risk_at_least=3&sort=newest":           "nice a/b",
		"risk_level=4,2":                        "a/b lyon",
		"q=strike&country=FR":                   "a/b",
		"q=nice":                                "nice",
		"q=lyon+strike&sort=newest&kind=cities": "lyon",
		"q=bombay":                              "bombay",
	} {
		if _, got := a.find(query); got != want {
			t.Errorf("%s: found %q, want %q", query, got, want)
		}
	}
	found, _ := a.find("country=FR&kind=cities&near=45.75,4.8&within_km=2000")
	if got := fmt.Sprint(found.Facets["country"], found.Facets["kind"]); got != "[{FR 2}] [{cities 2} {advisories 1}]" {
		t.Errorf("facets with choices: %s", got)
	}
	if d := found.Hits[0].Distance; d == nil || *d < 3 || *d > 4 || found.Hits[0].Location == nil {
		t.Errorf("the nearest is %+v", found.Hits[0])
	}
	found, _ = a.find("near=45.75,4.8&kind=advisories")
	if d := found.Hits[0].Distance; *d < 6 || *d > 7 || found.Hits[0].Nearest.Name != "Villeurbanne" || found.Hits[0].Location.Latitude != 50.8 {
		t.Errorf("of several places, %v km away at %v is the nearest", *d, found.Hits[0].Nearest)
	}
	if found, _ = a.find("q=bombay"); found.Hits[0].Matched != "Bombay" || found.NoReport {
		t.Errorf("Bombay: %+v", found)
	}
	if found, _ = a.find("q=lyno"); !found.NoReport {
		t.Errorf("a typo: %+v", found)
	}
	if found, _ = a.find("q=trains"); !strings.Contains(found.Hits[0].Snippet, "<em>Trains</em> stop.") {
		t.Errorf("a snippet: %+v", found)
	}
	var completed searchapi.Completed
	if a.get("/v1/complete?q=bombay", &completed); len(completed.Hits) != 1 || completed.Hits[0].Matched != "Bombay" || completed.Hits[0].Title != "Mumbai" {
		t.Errorf("completed to %+v", completed)
	}
	var document map[string]any
	if status := a.get("/v1/documents/advisories/"+url.PathEscape("a/b"), &document); status != http.StatusOK || document["title"] != "Rail strike" || document["text"] == nil || fmt.Sprint(document["country"]) != "[FR BE]" || document["source"] == nil || document["country_name"] != nil {
		t.Errorf("the document is %d %v", status, document)
	}
	if status := a.get("/v1/documents/cities/none", nil); status != http.StatusNotFound {
		t.Errorf("a document that is not there: %d", status)
	}
	a.find("q=zzzzzz")
	for path, want := range map[string]string{"/metrics": `riskdex_search_requests_total{call="document",code="404"} 1`, "/api/searches/missed": `{"words":"zzzzzz","searches":1,`} {
		res, err := http.Get("http://" + a.admin + path)
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		require.NoError(t, err)
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// TestElasticsearchAwayIsToldToApps at once, whether connections to it are refused, broken off or hang.
func TestElasticsearchAwayIsToldToApps(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	proxy, cut := cuttableProxy(t, p.elasticsearch)
	target, err := url.Parse(proxy)
	require.NoError(t, err)
	way, hangs := httputil.NewSingleHostReverseProxy(target), new(atomic.Bool)
	way.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		way.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	a := p.searchAPI(slow.URL, "--timeout", "1h") // it is not the timeout that tells
	cut.Store(true)
	if status := a.get("/v1/search?q=x", nil); status != http.StatusServiceUnavailable {
		t.Errorf("cut off: %d", status)
	}
	cut.Store(false)
	if status := a.get("/v1/search?q=x", nil); status != http.StatusOK {
		t.Errorf("back: %d", status)
	}
	hangs.Store(true)
	for range 3 {
		if status := a.get("/v1/search?q=x", nil); status != http.StatusServiceUnavailable {
			t.Errorf("hanging: %d", status)
		}
	}
	hangs.Store(false)
	eventually(t, "searches are answered again", func() bool { return a.get("/v1/search?q=x", nil) == http.StatusOK })
}

// TestSearchesGoOn: many clients search through one process, while reports are delivered, an index is
// rebuilt and riskdex is killed. Each search is answered, and shows no report older than it did before.
func TestSearchesGoOn(t *testing.T) {
	p := newSearched(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.send("POST", "/cities", `[{"id":1,"title":"Lyon","country":"FR"},{"id":2,"title":"Nice","country":"FR"}]`)
	p.drained()
	p.indexed(report.Cities)
	a := p.searchAPI(p.elasticsearch, "--timeout", "1m")
	searches := int64(torture.Extent(500, 10_000))
	var made, failed atomic.Int64
	var clients sync.WaitGroup
	queries := []string{"q=lyon", "country=FR", "q=lion", "q=nice+strike&sort=newest", "kind=cities&sort=risk&size=50"}
	for n := range 50 {
		clients.Go(func() {
			var newest time.Time
			for i := n; made.Add(1) <= searches; i++ {
				res, err := http.Get(a.url + "/v1/search?" + queries[i%len(queries)])
				if err != nil {
					failed.Add(1)
					t.Errorf("a search: %v", err)
					return
				}
				var found searchapi.Found
				err = json.NewDecoder(res.Body).Decode(&found)
				res.Body.Close()
				if err != nil || res.StatusCode != http.StatusOK || found.Total == 0 {
					failed.Add(1)
					t.Errorf("a search: %d, %v, %+v", res.StatusCode, err, found)
					return
				}
				for _, h := range found.Hits {
					if h.ID != "1" {
						continue
					}
					at, err := time.Parse(time.RFC3339, h.Received)
					if err != nil || at.Before(newest) {
						t.Errorf("after a report of %s comes one of %s, %v", newest, h.Received, err)
					}
					newest = at
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { clients.Wait(); close(done) }()
	rebuilt := 0
	for n, ended := 0, false; !ended; n++ {
		select {
		case <-done:
			ended = true
		default:
			if _, err := p.try("PUT", "/cities/1", fmt.Sprintf(`{"id":1,"title":"Lyon","country":"FR","body":"Version %d"}`, n)); err != nil {
				t.Error(err)
			}
			if n%20 == 10 {
				if got := p.command("", "rebuild", "cities"); got.status == exitDone {
					rebuilt++
				}
				p.kill()
				p.start()
			}
		}
	}
	p.drained()
	if made.Load() < searches || rebuilt == 0 {
		t.Errorf("%d searches were made beside %d rebuilds", made.Load(), rebuilt)
	}
	t.Logf("%d searches beside %d rebuilds, %d failed", searches, rebuilt, failed.Load())
}

// TestServeAnswersSearches has serve answer searches, and changes who may.
func TestServeAnswersSearches(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(keys, []byte("first-key-of-an-app\n"), 0o600))
	address := freeAddress(t)
	p := newProcess(t, elastictest.URL(t), "--search-listen", address, "--search-key-file", keys)
	p.start()
	p.indicesReady()
	ask := func(key string) int {
		req, err := http.NewRequest("GET", "http://"+address+"/v1/search", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		res.Body.Close()
		return res.StatusCode
	}
	if first, none := ask("first-key-of-an-app"), ask("other-key-of-an-app"); first != http.StatusOK || none != http.StatusUnauthorized {
		t.Errorf("a key is answered with %d, another with %d", first, none)
	}
	require.NoError(t, os.WriteFile(keys, []byte("other-key-of-an-app\n"), 0o600))
	eventually(t, "the keys are reread", func() bool { return ask("other-key-of-an-app") == http.StatusOK })
	if first := ask("first-key-of-an-app"); first != http.StatusUnauthorized {
		t.Errorf("a key that was taken away is answered with %d", first)
	}
	if n, _ := p.metrics().Sum("riskdex_search_requests_total"); n < 4 {
		t.Errorf("%v searches are counted", n)
	}
}

// TestExamplesOfTheSearchAPI has the clients of examples/search-api search: in Node, in Python, and in the
// page, in a browser on another origin.
func TestExamplesOfTheSearchAPI(t *testing.T) {
	p := newSearched(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.send("POST", "/cities", `[{"id":1,"code":"BOM","title":"Mumbai","country":"IN","body":"Trains & <b>crowds</b>."},{"id":"a/b","title":"Lyon","country":"FR"}]`)
	p.drained()
	p.indexed(report.Cities)
	a := p.searchAPI(p.elasticsearch, "--allow-origin", "*")
	folder, err := filepath.Abs("../../examples/search-api")
	require.NoError(t, err)
	page := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(page.Close)
	node := needs.Program(t, "node", "apt-get install -y --no-install-recommends nodejs")
	python := needs.Python(t, "examples/python/requirements.txt")
	chromium := needs.Program(t, "chromium", "apt-get install -y --no-install-recommends chromium")
	for what, c := range map[string]struct {
		command []string
		want    []string
	}{
		"node": {[]string{node, "--input-type=module", "-e", `
import {Riskdex, SearchError, pieces} from "` + folder + `/riskdex.js";
const riskdex = new Riskdex(process.argv[1]);
const {hits: [hit]} = await riskdex.search({q: "bombay trains", country: ["IN", "FR"]});
const {hits: [completed]} = await riskdex.complete({q: "mum"});
const {title} = await riskdex.document("cities", "a/b");
const failed = await riskdex.search({sort: "best"}).catch((e) => e instanceof SearchError && e.reason);
console.log(hit.title, hit.matched, JSON.stringify(pieces(hit.snippet)), completed.code, title, failed);`, a.url},
			[]string{`Mumbai Bombay [{"text":"Trains","match":true},{"text":" & crowds.","match":false}] BOM Lyon mistake`}},
		"python": {[]string{python, folder + "/riskdex_search.py", "q=bombay", "country=IN"}, []string{`"title": "Mumbai"`, `"total": 1`}},
		"page": {[]string{chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + t.TempDir(),
			"--virtual-time-budget=20000", "--dump-dom", page.URL + "/?api=" + a.url}, []string{"2 reports.", ">Mumbai</a>", ">Lyon</a>", "FR 1</button>"}},
	} {
		cmd := exec.CommandContext(t.Context(), c.command[0], c.command[1:]...)
		cmd.Env, cmd.Stderr = append(os.Environ(), "RISKDEX_SEARCH_URL="+a.url), t.Output()
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: %q is not in %s", what, want, out)
			}
		}
	}
}

// TestSearchAPINeedsTheRoleOfTheDocuments: it works with the role for apps that docs/search-api.md gives a key,
// which may read and nothing else.
func TestSearchAPINeedsTheRoleOfTheDocuments(t *testing.T) {
	const boss, apps, password = "boss", "apps", "correct-horse"
	_, text, _ := strings.Cut(documents(t)["../../docs/search-api.md"], `/_security/api_key" -H 'Content-Type: application/json' -d '`)
	text, _, _ = strings.Cut(text, "'")
	var key struct {
		Roles map[string]json.RawMessage `json:"role_descriptors"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &key))
	server := elastictest.Start(t, elasticserver.Options{Home: elastictest.Home(t), Security: &elasticserver.Security{
		Users: map[string]elasticserver.User{boss: {Password: password, Role: elasticserver.Superuser}, apps: {Password: password, Role: apps}},
		Roles: map[string]string{apps: string(key.Roles[apps])},
	}})
	p := newSearched(t, elastictest.URL(t))
	as := func(user string) string {
		return strings.Replace(server.URL(), "http://", "http://"+user+":"+password+"@", 1)
	}
	p.elasticsearch, p.prefix = as(boss), ""
	p.environment = "ELASTICSEARCH_URL=" + p.elasticsearch
	p.start()
	p.indicesReady()
	p.send("POST", "/cities", `[{"id":1,"title":"Lyon","country":"FR"}]`)
	p.drained()
	p.indexed(report.Cities)
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte(password), 0o600))
	a := p.searchAPI(server.URL(), "--elasticsearch-user", apps, "--elasticsearch-password-file", file)
	if _, ids := a.find("q=lyon"); ids != "1" {
		t.Errorf("found %q", ids)
	}
	if status := a.get("/v1/documents/cities/1", nil); status != http.StatusOK {
		t.Errorf("a document: %d", status)
	}
	if status, _ := elastictest.Ask(t, "DELETE", as(apps)+"/cities/_doc/1", ""); status != http.StatusForbidden {
		t.Errorf("a delete with the role for apps is answered %d", status)
	}
}
