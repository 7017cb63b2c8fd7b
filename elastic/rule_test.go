package elastic_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestAnswersThatDoNotSaySo: each rule takes what Elasticsearch answers when it has done what was
// asked, and nothing that says less, or something else.
func TestAnswersThatDoNotSaySo(t *testing.T) {
	const shards = `"_shards":{"total":3,"successful":3,"skipped":0,"failed":0}`
	const searched = `{"timed_out":false,` + shards + `,"hits":{"hits":[]}}`
	const created = `{"acknowledged":true,"shards_acknowledged":true,"index":"x"}`
	var answer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	client, err := elastic.NewClient(elastic.Connection{URL: server.URL})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		rule elastic.Rule
		good string
		bad  []string // what replaces what in the good one
	}{
		"acknowledged": {elastic.Acknowledged, `{"acknowledged":true,"errors":false}`, []string{"true,false", `"errors":false,"errors":true`}},
		"created":      {elastic.Created("x"), created, []string{`"x","y"`, `shards_acknowledged":true,shards_acknowledged":false`, `"shards_acknowledged":true|`, `{"acknowledged":true|{"acknowledged":false`}},
		"refreshed":    {elastic.Refreshed, `{"_shards":{"total":2,"successful":1,"failed":0}}`, []string{`"failed":0,"failed":1`, `"successful":1,"successful":0`}},
		"searched": {elastic.Searched, searched, []string{
			`"failed":0,"failed":1`, `"successful":3,"successful":2`, `"timed_out":false,"timed_out":true`, `"timed_out":false,|`, `"hits":|"no":`, `{"timed|{"terminated_early":true,"timed`,
		}},
		"counted":    {elastic.Counted, `{"count":7,` + shards + `}`, []string{`"count":7,|`, `"successful":3,"successful":2`}},
		"opened":     {elastic.Opened, `{"id":"p",` + shards + `}`, []string{`"p",""`, `"failed":0,"failed":1`}},
		"closed":     {elastic.Closed, `{"succeeded":true,"num_freed":1}`, []string{"true,false"}},
		"ready":      {elastic.Ready, `{"status":"yellow","timed_out":false}`, []string{"false,true", "yellow,red", `"status":"yellow",|`}},
		"nodes":      {elastic.Nodes, `{"_nodes":{"total":1,"failed":0},"nodes":{"a":{}}}`, []string{`"failed":0,"failed":1`, `"total":1,"total":2`, `"a":{}|`}},
		"indices":    {elastic.Indices, `{"x":{"settings":{"index":{"uuid":"u"}}}}`, []string{`"u",""`, `"settings":|"aliases":`}},
		"identified": {elastic.Identified, `{"cluster_uuid":"u"}`, []string{`"u",""`}},
	} {
		ask := func(text string) error {
			answer = text
			_, err := client.Ask(t.Context(), esapi.ClusterHealthRequest{}, c.rule)
			return err
		}
		if err := ask(c.good); err != nil {
			t.Errorf("%s: %s: %v", name, c.good, err)
		}
		bad := []string{`[]`, `"ok"`, `{"acknowledged":`}
		if name != "indices" { // an object without members says that there is none; noneOf asks again
			bad = append(bad, `{}`)
		}
		for _, change := range c.bad {
			old, with, ok := strings.Cut(change, "|")
			if !ok {
				old, with, _ = strings.Cut(change, ",")
			}
			if !strings.Contains(c.good, old) {
				t.Fatalf("%s: there is no %s", name, old)
			}
			bad = append(bad, strings.Replace(c.good, old, with, 1))
		}
		for _, text := range bad {
			err := ask(text)
			_, unclear := errors.AsType[*elastic.UnclearError](err)
			said, isSaid := errors.AsType[*elastic.ResponseError](err)
			if !unclear && !(isSaid && said.Status == http.StatusServiceUnavailable) {
				t.Errorf("%s: of %s: %v", name, text, err)
			}
			if verdict, reason := elastic.Classify(elastic.AnswerOf(err)); verdict != elastic.Retry || unclear && reason != elastic.ReasonUnclear {
				t.Errorf("%s: of %s: %v %s", name, text, verdict, reason)
			}
		}
	}
}

// TestVersionsOfSeveralIndices: an alias of several indices has the state of no document.
func TestVersionsOfSeveralIndices(t *testing.T) {
	var answer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	client, err := elastic.NewClient(elastic.Connection{URL: server.URL})
	require.NoError(t, err)
	const docs = `{"docs":[{"_index":%q,"_id":"1","_version":5,"found":true},{"_index":%q,"_id":"2","found":false}]}`
	for second, right := range map[string]bool{"x-v1": true, "x-v2": false, "": false} {
		answer = fmt.Sprintf(docs, "x-v1", second)
		if have, err := client.Versions(t.Context(), "x", []report.ID{"1", "2"}); (err == nil) != right || right && have["1"].Version != 5 {
			t.Errorf("%q: %v, %v", second, have, err)
		}
	}
}

// TestRulesTakeTheRealAnswers asks a real server for all of it.
func TestRulesTakeTheRealAnswers(t *testing.T) {
	index := elastictest.Prefix(t) + "rules"
	client, err := elastic.NewClient(elastic.Connection{URL: elastictest.URL(t)})
	require.NoError(t, err)
	for _, c := range []struct {
		method, path, body string
		rule               elastic.Rule
	}{
		{"PUT", "/" + index, `{}`, elastic.Created(index)},
		{"PUT", "/" + index + "/_mapping", `{"_meta":{"a":1}}`, elastic.Acknowledged},
		{"POST", "/_aliases", `{"actions":[{"add":{"index":"` + index + `","alias":"` + index + `-alias"}}]}`, elastic.Acknowledged},
		{"PUT", "/_index_template/" + index, `{"index_patterns":["` + index + `-none"]}`, elastic.Acknowledged},
		{"GET", "/_cluster/health/" + index + "?wait_for_status=yellow", ``, elastic.Ready},
		{"POST", "/" + index + "-alias/_refresh", ``, elastic.Refreshed},
		{"GET", "/" + index + "/_count", ``, elastic.Counted},
		{"GET", "/" + index + "/_search", ``, elastic.Searched},
		{"POST", "/" + index + "/_pit?keep_alive=1s", ``, elastic.Opened},
		{"GET", "/_nodes/jvm", ``, elastic.Nodes},
		{"GET", "/" + index, ``, elastic.Indices},
		{"GET", "/_cluster/state/version", ``, elastic.Identified},
		{"DELETE", "/" + index, ``, elastic.Acknowledged},
	} {
		if _, err := client.Ask(t.Context(), elastic.Request{Method: c.method, Path: c.path, Body: []byte(c.body)}, c.rule); err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
		}
	}
}
