package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/freeport"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/metricstest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// process is a riskdex in a process of its own, with its settings and data.
type process struct {
	t                 *testing.T
	elasticsearch     string
	prefix            string // of its indices
	mappings          string // a folder; empty for the built-in ones
	journal           string
	deliveries, admin string // addresses, the same after every start
	extra             []string
	token             string // for administration; empty if none is required
	environment       string // a variable, as NAME=value; may be empty
	cmd               *exec.Cmd
	log               *logtest.Buffer
	stderr            *os.File            // in place of log, if a test has an end of its own for it
	atStart           metricstest.Samples // the metrics when it could first accept
	sender            *http.Client        // keeps a connection for each sender of a test
}

// newSearched prepares a riskdex with the built-in mappings, for tests of what apps find.
func newSearched(t *testing.T, elasticsearch string, extra ...string) *process {
	t.Helper()
	p := newProcess(t, elasticsearch, extra...)
	p.mappings = ""
	return p
}

// newProcess prepares a riskdex that is not started yet. Its mappings are plain ones, which take much
// less of Elasticsearch than the rest of most tests.
func newProcess(t *testing.T, elasticsearch string, extra ...string) *process {
	t.Helper()
	p := &process{
		t: t, elasticsearch: elasticsearch, prefix: elastictest.Prefix(t), mappings: plainMappings(t),
		journal:    filepath.Join(t.TempDir(), "riskdex.db"),
		deliveries: freeAddress(t), admin: freeAddress(t), extra: extra, log: new(logtest.Buffer),
		sender: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	t.Cleanup(p.sender.CloseIdleConnections)
	t.Cleanup(func() {
		if p.cmd != nil && !t.Failed() {
			p.conserved() // whatever the test did
		}
		p.kill()
		if strings.Contains(p.log.String(), `=""`) {
			t.Error("a line of the log has an empty attribute")
		}
		if t.Failed() {
			t.Logf("log of riskdex:\n%s", tail(p.log.String(), 60))
		}
	})
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	a, err := freeport.Address()
	require.NoError(t, err)
	return a
}

func tail(text string, lines int) string {
	all := strings.Split(text, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// launch starts it without waiting.
func (p *process) launch() {
	p.t.Helper()
	args := append([]string{
		"serve", "--listen", p.deliveries, "--admin-listen", p.admin, "--journal", p.journal,
		"--elasticsearch-url", p.elasticsearch, "--index-prefix", p.prefix,
	}, p.extra...)
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = p.environ(p.environment)
	p.cmd.Stderr = p.log
	if p.stderr != nil {
		p.cmd.Stderr = p.stderr
	}
	p.cmd.SysProcAttr = child.WithParent(&syscall.SysProcAttr{})
	require.NoError(p.t, p.cmd.Start())
}

// environ returns the environment of this riskdex and of commands about it, with more variables of the
// form NAME=value.
func (p *process) environ(more ...string) []string {
	if p.mappings != "" {
		more = append(more, "RISKDEX_MAPPINGS="+p.mappings)
	}
	return slices.Concat(os.Environ(), []string{asRiskdex + "=1"}, more)
}

// start starts it and waits until it can accept deliveries.
func (p *process) start() {
	p.t.Helper()
	p.launch()
	eventually(p.t, "riskdex is ready", func() bool {
		res, err := http.Get("http://" + p.admin + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	p.atStart = p.metrics()
}

// indicesReady waits until each kind has its index.
func (p *process) indicesReady() {
	p.t.Helper()
	for _, kind := range report.Kinds() {
		eventually(p.t, "the index is there", func() bool {
			log, index := p.log.String(), ` index=`+p.prefix+string(kind)
			return strings.Contains(log, `msg="index ready"`+index) || strings.Contains(log, `msg="index healed: going on"`+index)
		})
	}
}

// kill ends it as a power cut would end the process.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cmd = nil
}

// terminate asks it to stop and returns its exit status.
func (p *process) terminate() int {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	_ = p.cmd.Wait()
	status := p.cmd.ProcessState.ExitCode()
	p.cmd = nil
	return status
}

// send makes one delivery and returns the status of the answer.
func (p *process) send(method, path, body string) int {
	p.t.Helper()
	status, err := p.try(method, path, body)
	require.NoError(p.t, err)
	return status
}

func (p *process) try(method, path, body string) (int, error) {
	req, err := http.NewRequest(method, "http://"+p.deliveries+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	return answer(p.sender, req)
}

// answer sends a request and returns the status of the answer, which is read to its end.
func answer(client *http.Client, req *http.Request) (int, error) {
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// metrics returns every series of the admin listener by its name and labels.
func (p *process) metrics() metricstest.Samples {
	p.t.Helper()
	all, err := metricstest.Read(bytes.NewReader(p.administer("/metrics")))
	require.NoError(p.t, err)
	return all
}

// administer returns the body of the admin listener's answer at a path.
func (p *process) administer(path string) []byte {
	p.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+p.admin+path, nil)
	require.NoError(p.t, err)
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(p.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	return text
}

// sum returns the sum of the series of a metric without those of the probe, which is
// written at times of its own.
func sum(metrics metricstest.Samples, name string) float64 {
	all, _ := metrics.Sum(name)
	return all - sumOfProbe(metrics, name)
}

// sumOfProbe returns the sum of the probe's series of a metric.
func sumOfProbe(metrics metricstest.Samples, name string) float64 {
	total, _ := metrics.Sum(name, `kind="probe"`)
	return total
}

// drained waits until nothing is pending, and checks that the sums agree.
func (p *process) drained() {
	p.t.Helper()
	eventually(p.t, "nothing is pending", func() bool {
		m := p.metrics()
		return sum(m, "riskdex_changes_pending")+sum(m, "riskdex_documents_resending") == 0
	})
	p.conserved()
}

// conserved checks that every accepted change is in exactly one place, and that every
// series existed from the start of the process.
func (p *process) conserved() {
	p.t.Helper()
	var m metricstest.Samples
	eventually(p.t, "the metrics have the sums of the journal, which a busy one gives late", func() bool {
		m = p.metrics()
		_, read := m.Sum("riskdex_changes_pending")
		return read
	})
	if err := m.Conserved(); err != nil {
		p.t.Error(err)
	}
	isOfSender := func(series string) bool { return strings.Contains(series, `kind="",sender="`) } // known from its first delivery on
	if born := slices.DeleteFunc(m.Born(p.atStart), isOfSender); len(born) > 0 {
		p.t.Errorf("series that did not exist from the start: %v", born)
	}
}

// ask sends a request to Elasticsearch and decodes the answer into v.
func (p *process) ask(method, path, body string, v any) {
	p.t.Helper()
	status, text := elastictest.Ask(p.t, method, p.elasticsearch+path, body)
	if status >= 300 {
		p.t.Fatalf("%s %s is answered %d %s", method, path, status, text)
	}
	if v != nil {
		require.NoError(p.t, json.Unmarshal(text, v))
	}
}

// indexed returns the source of every document of a kind that a search finds, by id.
func (p *process) indexed(kind report.Kind) map[string]json.RawMessage {
	p.t.Helper()
	alias := "/" + p.prefix + string(kind)
	p.ask("POST", alias+"/_refresh", "", nil)
	all := map[string]json.RawMessage{}
	type page struct {
		Scroll string `json:"_scroll_id"`
		Hits   struct {
			Hits []struct {
				ID     string `json:"_id"`
				Source struct {
					Source json.RawMessage `json:"source"`
				} `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	var found page
	p.ask("POST", alias+"/_search?scroll=1m", `{"size":5000,"sort":["_doc"],"query":{"match_all":{}},"_source":["source"]}`, &found)
	for len(found.Hits.Hits) > 0 {
		for _, hit := range found.Hits.Hits {
			all[hit.ID] = hit.Source.Source
		}
		next := page{}
		p.ask("POST", "/_search/scroll", `{"scroll":"1m","scroll_id":"`+found.Scroll+`"}`, &next)
		found = next
	}
	p.ask("DELETE", "/_search/scroll", `{"scroll_id":"`+found.Scroll+`"}`, nil)
	return all
}

// search runs the search command and returns its hits as "kind/id". It waits for the index
// of each kind, because Elasticsearch answers 404 until the index exists, and 503 until its
// shard is started.
func (p *process) search(words string) []string {
	p.t.Helper()
	var out, errs bytes.Buffer
	eventually(p.t, "the indices can be searched", func() bool {
		out.Reset()
		errs.Reset()
		status := run(p.t.Context(), []string{
			"search", "--json", "--elasticsearch-url", p.elasticsearch, "--index-prefix", p.prefix, words,
		}, streams{&out, &errs})
		starting := strings.Contains(errs.String(), "Elasticsearch answered 503") ||
			strings.Contains(errs.String(), "index_not_found_exception")
		if status == exitFailed && !starting {
			p.t.Fatalf("search %q: %s", words, errs.String())
		}
		return !starting
	})
	var hits []string
	for line := range strings.Lines(out.String()) {
		var hit struct{ Kind, ID string }
		require.NoError(p.t, json.Unmarshal([]byte(line), &hit))
		hits = append(hits, hit.Kind+"/"+hit.ID)
	}
	return hits
}

// eventually waits until ok returns true. Its bound is generous, and not a measure of speed.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, 5*time.Minute, what, ok)
}

// ofEveryCity is what a city report has to have, so that nothing is said to be missing.
const ofEveryCity = `"country":"GB","risk_level":2,"lat":51.5,"lng":-0.12`

func cityBody(id int, text string) string {
	return fmt.Sprintf(`{"id":%d,"title":"City %d",%s,"body":%q}`, id, id, ofEveryCity, text)
}
