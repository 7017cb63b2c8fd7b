package indexer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/indexer"
	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// ownServer is an Elasticsearch with security on and low limits, for tests that
// need to break, restart or reconfigure it.
type ownServer struct {
	*elasticserver.Server
	options elasticserver.Options
}

// may do everything
const admin, adminPassword = "admin", "correct horse"

// the roles of the other users
const mayRead, mayNothing, mayWrite = "reading", "nothing", "writing"

func startOwnServer(t *testing.T) *ownServer {
	t.Helper()
	o := elasticserver.Options{Home: elastictest.Home(t), Security: &elasticserver.Security{
		Users: map[string]elasticserver.User{admin: {Password: adminPassword, Role: elasticserver.Superuser}},
		// They never change: a server that is asked for a user while it reads new roles may
		// remember for good that there is no such role.
		Roles: map[string]string{
			mayRead:    `{"indices":[{"names":["*"],"privileges":["read","view_index_metadata"]}]}`,
			mayNothing: `{}`,
			mayWrite:   `{"cluster":["manage_index_templates","monitor"],"indices":[{"names":["*"],"privileges":["all"]}]}`,
		},
	}, Settings: map[string]string{
		"http.max_content_length":        "1mb",
		"indexing_pressure.memory.limit": "800kb",
	}}
	s := &ownServer{elastictest.Start(t, o), o}
	s.options.Port = s.Port()
	return s
}

// let gives a user a password and a role. The server takes a moment to notice.
func (s *ownServer) let(t *testing.T, user, password, role string) {
	t.Helper()
	s.options.Security.Users[user] = elasticserver.User{Password: password, Role: role}
	require.NoError(t, s.SetSecurity(*s.options.Security))
}

// introduce gives a user a password and a role, and waits until the server lets the user read.
func (s *ownServer) introduce(t *testing.T, user, password, role string) {
	t.Helper()
	s.let(t, user, password, role)
	for deadline := time.Now().Add(time.Minute); s.status(t, user, password, "/no-such-index/_count") != http.StatusNotFound; {
		if time.Now().After(deadline) {
			t.Fatalf("the server has not noticed the user %s within a minute", user)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// as returns the server's address with these credentials in it.
func (s *ownServer) as(user, password string) string {
	u, err := url.Parse(s.URL())
	if err != nil {
		panic(err)
	}
	u.User = url.UserPassword(user, password)
	return u.String()
}

// restart ends the server, either in order or as a power cut would, and starts it again
// with the same data and port.
func (s *ownServer) restart(t *testing.T, abruptly bool) {
	t.Helper()
	if abruptly {
		s.Kill()
	} else {
		require.NoError(t, s.Stop())
	}
	s.Server = elastictest.Start(t, s.options)
}

// TestOnAServerOfItsOwn has every test that needs its own server, because a server takes
// long to start.
func TestOnAServerOfItsOwn(t *testing.T) {
	t.Parallel()
	s := startOwnServer(t)
	t.Run("credentials are taken", func(t *testing.T) { testCredentials(t, s) })
	t.Run("answers are judged rightly", func(t *testing.T) { testAnswers(t, s) })
	t.Run("held until credentials are right", func(t *testing.T) { testSecurityHeals(t, s) })
	t.Run("held until more fields are allowed", func(t *testing.T) { testFieldLimitHeals(t, s) })
	t.Run("deleted stays deleted", func(t *testing.T) { testDeletedStaysDeleted(t, s) })
}

// asked is a bulk of one change, and the expected judgement.
type asked struct {
	setup   []string // requests "METHOD /path body" that are made before; %s is a name for this row alone
	undo    []string // requests that are made after
	query   string   // require_alias=true by default
	path    string   // /%s/_bulk by default
	user    string   // "name:password"; the administrator by default
	action  string   // the line for the document "1"
	op      report.Op
	doc     string
	verdict string
	reason  string
}

// alone creates an index behind the alias %s, with settings and a mapping.
func alone(settings, mapping string) string {
	return `PUT /%s-v1 {"aliases":{"%s":{"is_write_index":true}},"settings":{"number_of_replicas":0` + settings + `},"mappings":{` + mapping + `}}`
}

// external is the line for the document "1" with a version.
const external = `{"index":{"_id":"1","version":%d,"version_type":"external"}}`

func rows() map[string]asked {
	const dynamic, off = `"dynamic":true`, `"dynamic":false`
	first := `PUT /%s/_doc/1?version=5&version_type=external {}`
	large := `{"text":"` + strings.Repeat("x ", 1<<19) + `"}`
	middling := `{"text":"` + strings.Repeat("x ", 450_000) + `"}`
	small := `{"text":"` + strings.Repeat("x ", 200_000) + `"}`
	return map[string]asked{
		"created":           {setup: []string{alone("", off)}, verdict: "settled"},
		"updated":           {setup: []string{alone("", off), first}, action: fmt.Sprintf(external, 6), verdict: "settled"},
		"same version":      {setup: []string{alone("", off), first}, action: fmt.Sprintf(external, 5), verdict: "superseded"},
		"older version":     {setup: []string{alone("", off), first}, action: fmt.Sprintf(external, 4), verdict: "superseded"},
		"delete of nothing": {setup: []string{alone("", off)}, action: `{"delete":{"_id":"1","version":1,"version_type":"external"}}`, op: report.Delete, verdict: "settled"},

		"closed":                 {setup: []string{alone("", off), `POST /%s-v1/_close`}, verdict: "pause", reason: "index_closed"},
		"write block":            {setup: []string{alone("", off), `PUT /%s-v1/_block/write`}, verdict: "pause", reason: "index_blocked"},
		"write block, delete":    {setup: []string{alone("", off), `PUT /%s-v1/_block/write`}, action: `{"delete":{"_id":"1","version":1,"version_type":"external"}}`, op: report.Delete, verdict: "pause", reason: "index_blocked"},
		"read-only":              {setup: []string{alone(`,"blocks.read_only":true`, off)}, verdict: "pause", reason: "index_blocked"},
		"flood stage":            {setup: []string{alone(`,"blocks.read_only_allow_delete":true`, off)}, verdict: "pause", reason: "index_blocked"},
		"flood stage, delete":    {setup: []string{alone(`,"blocks.read_only_allow_delete":true`, off)}, action: `{"delete":{"_id":"1","version":1,"version_type":"external"}}`, op: report.Delete, verdict: "pause", reason: "index_blocked"},
		"no alias":               {verdict: "pause", reason: "index_missing"},
		"index in place of it":   {setup: []string{`PUT /%s {}`}, verdict: "pause", reason: "index_missing"},
		"no index, none guessed": {query: "timeout=20s", setup: []string{`PUT /_cluster/settings {"persistent":{"action.auto_create_index":"false"}}`}, undo: []string{`PUT /_cluster/settings {"persistent":{"action.auto_create_index":null}}`}, verdict: "pause", reason: "index_missing"},
		"too many fields":        {setup: []string{alone(`,"mapping.total_fields.limit":2`, dynamic)}, doc: `{"a":1,"b":2,"c":3}`, verdict: "pause", reason: "field_limit"},
		"missing pipeline":       {setup: []string{alone(`,"default_pipeline":"not-there"`, off)}, verdict: "pause", reason: "pipeline_missing"},
		"missing last pipeline":  {setup: []string{alone(`,"final_pipeline":"not-there"`, off)}, verdict: "pause", reason: "pipeline_missing"},

		"no credentials":          {setup: []string{alone("", off)}, user: "-", verdict: "pause", reason: "unauthorized"},
		"wrong password":          {setup: []string{alone("", off)}, user: admin + ":wrong", verdict: "pause", reason: "unauthorized"},
		"user who may only read":  {setup: []string{alone("", off)}, user: "reader:r", verdict: "pause", reason: "unauthorized"},
		"user who may do nothing": {setup: []string{alone("", off)}, user: "nobody:n", verdict: "pause", reason: "unauthorized"},
		"no such key":             {setup: []string{alone("", off)}, user: "ApiKey bm90aGluZzpub3RoaW5n", verdict: "pause", reason: "unauthorized"},

		"shard away":         {query: "require_alias=true&timeout=100ms", setup: []string{strings.Replace(alone(`,"routing.allocation.require.box":"none"`, off), "-v1 ", "-v1?wait_for_active_shards=0 ", 1)}, verdict: "retry", reason: "unavailable"},
		"too much at a time": {setup: []string{alone("", off)}, doc: middling, verdict: "retry", reason: "overloaded"},
		"short of memory": {setup: []string{alone("", off), `PUT /_cluster/settings {"persistent":{"network.breaker.inflight_requests.limit":"200kb"}}`},
			undo: []string{`PUT /_cluster/settings {"persistent":{"network.breaker.inflight_requests.limit":null}}`}, doc: small, verdict: "retry", reason: "overloaded"},

		"strict mapping":       {setup: []string{alone("", `"dynamic":"strict"`)}, doc: `{"a":1}`, verdict: "dead", reason: "document_refused"},
		"bad value":            {setup: []string{alone("", `"properties":{"n":{"type":"integer"}}`)}, doc: `{"n":"many"}`, verdict: "dead", reason: "document_refused"},
		"keyword too long":     {setup: []string{alone("", `"properties":{"k":{"type":"keyword"}}`)}, doc: `{"k":"` + strings.Repeat("x", 32_767) + `"}`, verdict: "dead", reason: "document_refused"},
		"too deep for mapping": {setup: []string{alone(`,"mapping.depth.limit":2`, dynamic)}, doc: `{"a":{"b":{"c":{"d":1}}}}`, verdict: "dead", reason: "document_refused"},
		"too deep for JSON":    {setup: []string{alone("", off)}, doc: strings.Repeat(`{"a":`, 1100) + "1" + strings.Repeat("}", 1100), verdict: "dead", reason: "document_refused"},
		"a name twice":         {setup: []string{alone("", off)}, doc: `{"a":1,"a":2}`, verdict: "dead", reason: "document_refused"},
		"no document":          {setup: []string{alone("", off)}, doc: ` `, verdict: "dead", reason: "document_refused"},
		"nested too often":     {setup: []string{alone(`,"mapping.nested_objects.limit":1`, `"properties":{"l":{"type":"nested"}}`)}, doc: `{"l":[{},{}]}`, verdict: "dead", reason: "document_refused"},

		"id of 513 bytes":  {setup: []string{alone("", off)}, action: `{"index":{"_id":"` + strings.Repeat("i", 513) + `"}}`, verdict: "bisect", reason: "request_refused"},
		"negative version": {setup: []string{alone("", off)}, action: fmt.Sprintf(external, -1), verdict: "bisect", reason: "request_refused"},
		"invalid escape":   {setup: []string{alone("", off)}, action: `{"index":{"_id":"\x31"}}`, verdict: "bisect", reason: "request_refused"},
		"line break":       {setup: []string{alone("", off)}, doc: "{\"a\":\n1}", verdict: "bisect", reason: "request_refused"},
		"too large":        {setup: []string{alone("", off)}, doc: large, verdict: "bisect", reason: "too_large"},
		"not this path":    {path: "/%s/_doc/_bulk/_bulk", verdict: "bisect", reason: "request_refused"},
	}
}

// testAnswers gets the answers from a real server and judges them. With -v it shows what
// the server answered.
func testAnswers(t *testing.T, s *ownServer) {
	s.let(t, "nobody", "n", mayNothing)
	s.introduce(t, "reader", "r", mayRead)
	for s.status(t, "nobody", "n", "/") == http.StatusUnauthorized {
		time.Sleep(20 * time.Millisecond) // until the server has noticed
	}
	for name, row := range rows() {
		t.Run(name, func(t *testing.T) {
			own := strings.TrimSuffix(elastictest.Prefix(t), "-")
			own = own[max(0, len(own)-40):]
			own = strings.TrimLeft(own, "-")
			for _, request := range row.setup {
				s.administer(t, strings.ReplaceAll(request, "%s", own))
			}
			status, text := s.bulk(t, own, row)
			for _, request := range row.undo {
				s.administer(t, request)
			}
			c := report.Change{Key: report.Key{ID: "1"}, Op: report.Index, Version: 1}
			if row.action == fmt.Sprintf(external, 6) {
				c.Version = 6
			}
			if row.op != "" {
				c.Op = row.op
			}
			to := own // what was refused before its index was known has the name that it was sent to
			if bytes.Contains(text, []byte(`"_index":"`+own+`-v1"`)) {
				to += "-v1"
			}
			judged, err := indexer.Judge(status, text, to, []report.Change{c})
			require.NoError(t, err)
			got := judged[0]
			level := "item"
			if got.Whole {
				level = "request"
			}
			t.Logf("%s %d %s %.200q: %s %s", level, got.Status, got.ErrorType, got.Detail, got.Verdict, got.Reason)
			if got.Verdict != row.verdict || got.Reason != row.reason {
				t.Errorf("judged %s %q, want %s %q", got.Verdict, got.Reason, row.verdict, row.reason)
			}
		})
	}
}

// bulk sends a row's change as the indexer would.
func (s *ownServer) bulk(t *testing.T, own string, row asked) (int, []byte) {
	t.Helper()
	path, query, action, doc := row.path, row.query, row.action, row.doc
	if path == "" {
		path = "/%s/_bulk"
	}
	if query == "" {
		query = "require_alias=true"
	}
	if action == "" {
		action = fmt.Sprintf(external, 1)
	}
	if doc == "" {
		doc = "{}"
	}
	lines := action + "\n" + doc + "\n"
	if row.op == report.Delete {
		lines = action + "\n"
	}
	req, err := http.NewRequest("POST", s.URL()+strings.ReplaceAll(path, "%s", own)+"?"+query+
		"&filter_path="+strings.Join(elastic.BulkFilter, ","), strings.NewReader(lines))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-ndjson")
	// A server that refuses the size closes the connection, so ask before sending.
	req.Header.Set("Expect", "100-continue")
	user, password, isPassword := strings.Cut(row.user, ":")
	switch {
	case row.user == "":
		req.SetBasicAuth(admin, adminPassword)
	case isPassword:
		req.SetBasicAuth(user, password)
	case user != "-":
		req.Header.Set("Authorization", user)
	}
	return roundTrip(t, req)
}

// administer sends "METHOD /path body" as the administrator, and requires success.
func (s *ownServer) administer(t *testing.T, request string) []byte {
	t.Helper()
	method, rest, _ := strings.Cut(request, " ")
	path, body, _ := strings.Cut(rest, " ")
	req, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth(admin, adminPassword)
	status, text := roundTrip(t, req)
	if status >= 300 {
		t.Fatalf("%.300s answered %d %s, want a success", request, status, text)
	}
	return text
}

func roundTrip(t *testing.T, req *http.Request) (int, []byte) {
	t.Helper()
	req.Close = true // the server may be restarting
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, bytes.TrimSpace(text)
}

// status returns the status of the answer to a request with these credentials.
func (s *ownServer) status(t *testing.T, user, password, path string) int {
	t.Helper()
	req, err := http.NewRequest("GET", s.URL()+path, nil)
	require.NoError(t, err)
	req.SetBasicAuth(user, password)
	status, _ := roundTrip(t, req)
	return status
}

// counted returns how many documents a search of an alias finds.
func (s *ownServer) counted(t *testing.T, alias string) int {
	t.Helper()
	s.administer(t, "POST /"+alias+"/_refresh")
	var answer struct{ Count int }
	require.NoError(t, json.Unmarshal(s.administer(t, "GET /"+alias+"/_count"), &answer))
	return answer.Count
}

// testCredentials uses a server that requires credentials, given beside the address and
// within it.
func testCredentials(t *testing.T, s *ownServer) {
	for _, c := range []elastic.Connection{{URL: s.URL(), User: admin, Password: adminPassword}, {URL: s.as(admin, adminPassword)}} {
		client, err := elastic.NewClient(c)
		require.NoError(t, err)
		_, err = client.Ask(t.Context(), esapi.ClusterHealthRequest{}, elastic.Readable)
		require.NoError(t, err)
	}
}
