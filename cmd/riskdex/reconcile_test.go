package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"riskdex/internal/push"
	"riskdex/internal/reconcile"
	"riskdex/internal/samplefeed"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/receiver"
	"riskdex/report"
)

// writeList writes a list that was made now.
func writeList(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// deliverCities delivers cities with ids from 1 to n in one delivery.
func (p *process) deliverCities(n int) {
	p.t.Helper()
	records := make([]string, n)
	for i := range records {
		records[i] = cityBody(i+1, "as delivered")
	}
	if status := p.send("POST", "/cities", "["+strings.Join(records, ",")+"]"); status != http.StatusAccepted {
		p.t.Fatalf("status %d", status)
	}
}

// numbers returns the numbers of a range as lines.
func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// before returns a receiver to deliver to in place of p's, which calls f before each delivery.
func (p *process) before(f func(n int64, w http.ResponseWriter, r *http.Request) (handled bool)) string {
	p.t.Helper()
	target, err := url.Parse("http://" + p.deliveries)
	require.NoError(p.t, err)
	forward := httputil.NewSingleHostReverseProxy(target)
	var n atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f(n.Add(1), w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	p.t.Cleanup(proxy.Close)
	return proxy.URL
}

// now returns the cursor of this moment, as a flag for a list that is made after it.
func (p *process) now() string {
	p.t.Helper()
	return "--since=" + strings.TrimSpace(p.expect(exitDone, "", words("changes --now")).out)
}

// has compares the ids that a search finds.
func (p *process) has(kind report.Kind, want ...string) {
	p.t.Helper()
	p.drained()
	got := slices.Sorted(maps.Keys(p.indexed(kind)))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.t.Errorf("the index has %q, want %q", got, want)
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.deliverCities(30)
	for _, d := range [][3]string{
		{"PUT", "/cities/LON", `{"id":130,"code":"LON","title":"London"}`},
		{"PUT", "/cities/XQZ", `{"code":"XQZ","title":"known by its code alone"}`},
		{"PUT", "/cities/a%2Fb", `{"title":"its id has a slash"}`},
		{"PUT", "/advisories/1", `{"title":"of another kind"}`},
	} {
		if status := p.send(d[0], d[1], d[2]); status != http.StatusAccepted {
			t.Fatalf("%v: %d", d, status)
		}
	}
	all := numbers(1, 30) + "LON\nxqz\na/b\n"
	p.expect(exitDone, "", []string{"reconcile", "cities", writeList(t, all)}, "33 in the list", "33 here: nothing differs")
	p.expect(exitDone, all, words("reconcile cities -"), "nothing differs")
	p.expect(exitNegative, "", []string{"reconcile", "cities", writeList(t, numbers(2, 29)+"130\n77\na/b\n")},
		"1 missing here, 3 here and not in the list", "missing   cities 77\n", "surplus   cities 1: delivered 20", "surplus   cities XQZ: ")

	// Why something is missing.
	for _, d := range [][3]string{{"PUT", "/cities/78", `{"title":`}, {"PUT", "/cities/79", `{"id":79}`}, {"DELETE", "/cities/79", ""}} {
		p.send(d[0], d[1], d[2])
	}
	p.expect(exitNegative, all+"77\n78\n79\n", words("reconcile cities -"),
		"3 missing here", "missing   cities 77\n", "missing   cities 78: a delivery was refused, see riskdex refused show 1\n", "missing   cities 79: deleted 20")
	p.indicesReady() // until then there is no cursor
	before := p.now()
	for _, d := range [][2]string{{"PUT", `{"id":80}`}, {"DELETE", ""}} {
		p.send(d[0], "/cities/80", d[1])
	}
	p.expect(exitDone, all+"80\n", words("reconcile cities - "+before), "newer     cities 80: deleted 20", ", after the cursor")

	// Records, as POST takes them and as riskdex exports them.
	export := p.expect(exitDone, "", words("export cities")).out
	p.expect(exitDone, export, words("reconcile cities -"), "33 here: nothing differs")
	p.expect(exitDone, p.expect(exitDone, "", words("changes --json")).out, words("reconcile cities -"), "33 in the list", "33 here: nothing differs")
	p.expect(exitFailed, p.expect(exitDone, "", words("changes --json")).out+`{"kind":"cities","id":"1","version":1,"accepted_at":"2026-11-23T10:00:00Z","deleted":true}`+"\n",
		words("reconcile cities - --delete --at-most 100% --expect 32 "+p.now()), "no line at its end that says that nothing follows")
	pretty := `{"meta":{"total":3},"cities":[` + "\n{\"title\": \"City 7\", " + ofEveryCity + ", \"body\": \"as delivered\", \"id\": 7.0},\n" + cityBody(8, "changed") + `]}`
	got := p.expect(exitNegative, pretty, words("reconcile cities - --json"), `"id":"8","problem":"differs"`)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	var sum struct{ Listed, Here, Missing, Surplus, Differing int }
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &sum))
	if sum.Listed != 2 || sum.Here != 33 || sum.Missing != 0 || sum.Surplus != 31 || sum.Differing != 1 || len(lines) != 33 {
		t.Errorf("%d lines, the last %+v", len(lines), sum)
	}
	p.expect(exitNegative, pretty, words("reconcile cities - --ids-only"), "31 here and not in the list\n")

	// What may not be removed.
	most := numbers(1, 29) + "130\nXQZ\na/b\n" // without 30
	before = p.now()
	for list, want := range map[string]string{
		"":           "there are no cities in it",
		"[]":         "there are no cities in it",
		`["1","2"`:   "breaks off",
		"1\n2\n":     "31 of 33 cities would be removed, and --at-most 5% allows 1: if the list is right, say --at-most 31",
		most + "1":   "the last line of the list has no end",
		most + "1\n": "the list has 1 twice",
		most + "\n":  "line 33: the id is empty",
		most + "ERROR: canceling statement due to timeout\n": "the list has 'ERROR: canceling statement due to timeout', which is not here",
		"# cities, page 1 of 3\n" + most:                     "the list has '# cities, page 1 of 3', which is not here",
		strings.Replace(most, "a/b", "A/B", 1):               "the list has A/B, which is not here",
		strings.Replace(most, "130", "LON", 1):               "the list has the code of city 130",
		"7001\n7002\n":                                       "the list has 7001, which is not here",
		`{"cities":[{"id":1},{"id":2}],"remaining":20}`:      "which may say that it is a page",
		`[{"id":1},{"title":"no id"}]`:                       "an entry without an id",
		`[{"id":1,"advisory":"a"},{"id":2,"advisory":"b"}]`:  "the list has another record of 1 than riskdex",
	} {
		got := p.expect(exitFailed, list, words("reconcile cities - --delete --expect 32 "+before), want)
		if list == most {
			t.Error(got)
		}
	}
	p.expect(exitFailed, most, words("reconcile cities - --delete --expect 32"), "run riskdex changes --now, then ask the publisher to make the list", "nothing was removed")
	p.expect(exitFailed, "", []string{"reconcile", "cities", writeList(t, most), "--delete", before}, "say how many cities the publisher has", "--expect cities=N")
	p.expect(exitFailed, most, words("reconcile cities - --delete --expect 33 "+before), "the list has 32 cities, and the publisher 33, as --expect says")
	p.expect(exitFailed, most, words("reconcile cities - --delete --expect advisories=32 "+before), "say how many cities the publisher has")
	p.expect(exitFailed, most, words("reconcile cities - --delete --expect 32 --at-most 0 "+before), "--at-most 0 allows 0")
	p.expect(exitFailed, most, words("reconcile cities - --delete --expect 32 --json "+before+" --at-most 0"), `"nothing_removed_because":["1 of 33 cities would`)
	p.expect(exitFailed, most, words("reconcile cities - --delete --expect 32 --since x"), "--since: ", "riskdex changes --now")
	p.expect(exitFailed, most, words("reconcile cities - --delete --expect 32 --since 1.1.a.x"), "it is of [advisories], and not of cities")
	p.expect(exitFailed, most, words("reconcile cities - --delete --expect 32 --since 1.1.c.x"), "--since: ", "not the one that this cursor is of")
	p.drained()
	if n := len(p.indexed(report.Cities)); n != 33 {
		t.Fatalf("%d cities are left", n)
	}

	// What may.
	to := "http://" + p.deliveries
	remove := []string{"reconcile", "cities", writeList(t, most), "--delete", "--expect", "32", before, "--to", to}
	p.expect(exitDone, "", remove, "1 of 1 removed")
	p.expect(exitDone, "", remove, "nothing differs")
	got = p.expect(exitDone, numbers(1, 27)+"130\nXQZ\n", words("reconcile cities - --delete --expect cities=29 "+before+" --json --at-most 10% --to "+to), `{"kind":"cities","id":"a/b","result":"removed"}`, `"removed":3`)
	if strings.Count(got.out, `"problem":"surplus"`) != 3 {
		t.Errorf("said %s", got.out)
	}
	p.expect(exitDone, "1\n", words("reconcile advisories -"), "nothing differs")
	p.has(report.Cities, append(words(numbers(1, 27)), "130", "XQZ")...)
}

// TestReconcileBesideDeliveries removes by a receiver that lets a delivery overtake the DELETE:
// on each engine, what came since is never removed.
func TestReconcileBesideDeliveries(t *testing.T) {
	t.Parallel()
	for engine, journal := range map[string]string{"SQLite": "", "PostgreSQL": postgrestest.URL(t)} {
		t.Run(engine, func(t *testing.T) {
			p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
			asked := p
			if journal != "" { // another process compares than removes
				p.journal = journal
				asked = newProcess(t, p.elasticsearch, "--probe-every", "0")
				asked.journal, asked.prefix = p.journal, p.prefix
				asked.start()
			}
			p.start()
			p.deliverCities(10)
			to := p.before(func(_ int64, _ http.ResponseWriter, r *http.Request) bool {
				switch r.URL.Path {
				case "/cities/3":
					_, _ = p.try("PUT", "/cities/3", cityBody(3, "came between"))
				case "/cities/4": // which becomes another city's code
					_, _ = p.try("DELETE", "/cities/4", "")
				}
				return false
			})
			got := asked.expect(exitNegative, "1\n2\n", words("reconcile cities - --delete --expect 2 "+asked.now()+" --at-most 8 --to "+to),
				"outdated  cities 3: 412", "6 of 8 removed, 1 gone already, 1 left alone, which came again meanwhile")
			if strings.Contains(got.out, "failed") {
				t.Error(got.out)
			}
			p.has(report.Cities, "1", "2", "3")
		})
	}
}

// TestReconcileKilled ends riskdex, and the command, while it removes.
func TestReconcileKilled(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.deliverCities(40)
	to := p.before(func(n int64, w http.ResponseWriter, _ *http.Request) bool {
		if n == 5 {
			p.kill()
			p.start()
		}
		return false
	})
	p.expect(exitDone, numbers(1, 30), words("reconcile cities - --delete --expect 30 "+p.now()+" --at-most 10 --to "+to), "10 of 10 removed")
	p.has(report.Cities, words(numbers(1, 30))...)

	for _, end := range []os.Signal{syscall.SIGKILL, syscall.SIGINT} {
		before := len(p.indexed(report.Cities))
		stop, release := make(chan struct{}), make(chan struct{})
		to := p.before(func(n int64, _ http.ResponseWriter, r *http.Request) bool {
			if n == 4 {
				close(stop)
				<-release
				return true
			}
			return false
		})
		remove := fmt.Sprintf("reconcile cities - --delete --expect %d %s --at-most 8 --to ", before-8, p.now())
		command := p.beginReading(numbers(1, before-8), words(remove+to)...)
		<-stop
		require.NoError(t, command.cmd.Process.Signal(end))
		got := command.wait()
		close(release)
		if end == syscall.SIGINT && (got.status != exitFailed || !strings.Contains(got.errs, "stopped after 3 of 8") || !strings.Contains(got.out, "3 of 8 removed")) {
			t.Errorf("%v: %+v", end, got)
		}
		p.drained()
		if n := len(p.indexed(report.Cities)); n != before-3 {
			t.Errorf("after %v %d are left of %d", end, n, before)
		}
		p.expect(exitDone, numbers(1, before-8), words(remove+"http://"+p.deliveries), "5 of 5 removed")
		p.has(report.Cities, words(numbers(1, before-8))...)
	}
}

// TestReconcileWithAnotherReceiver compares with one riskdex, and sends the DELETEs to another,
// which has none of the documents, and then all of them.
func TestReconcileWithAnotherReceiver(t *testing.T) {
	t.Parallel()
	asked, other := newProcess(t, elastictest.URL(t), "--probe-every", "0"), newProcess(t, elastictest.URL(t), "--probe-every", "0")
	asked.start()
	other.start()
	asked.deliverCities(10)
	for _, want := range []string{"0 of 2 removed, 2 gone already", "0 of 2 removed, 2 left alone"} {
		to := "http://" + other.deliveries
		asked.expect(exitNegative, numbers(1, 8), words("reconcile cities - --delete --expect 8 "+asked.now()+" --at-most 2 --to "+to),
			want, "does "+to+" deliver to the riskdex that was asked?")
		other.deliverCities(10)
	}
	for _, p := range []*process{asked, other} {
		p.has(report.Cities, words(numbers(1, 10))...)
	}
}

func TestPushReplace(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.deliverCities(20)
	if status := p.send("PUT", "/advisories/1", `{"title":"the folder has no advisories"}`); status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	dir := t.TempDir()
	put := func(name, body string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600))
	}
	to := "http://" + p.deliveries
	before := p.now()
	replace := func(more string) []string { return append(words("push --replace "+before+" --to "+to+" "+more), dir) }
	put("cities.json", `[{"title":"no id"}]`)
	p.expect(exitFailed, "", replace(""), "nothing was sent: ")
	put("cities.json", "["+cityBody(1, "x")+","+cityBody(21, "new")+`,{"title":"no id"}]`)
	p.expect(exitFailed, "", replace(""), "nothing was sent: ", "1 record of cities")
	put("cities.json", `{"next":"/cities?page=2","cities":[`+cityBody(1, "x")+"]}")
	p.expect(exitFailed, "", replace("--expect 1"), "nothing was sent: cities.json: the records are in an object that has more than them")
	put("cities.json", "["+cityBody(1, "x")+","+cityBody(21, "new")+"]")
	for i := 2; i < 20; i++ {
		put(fmt.Sprintf("cities/%d.json", i), `{"title":"in the folder"}`)
	}
	put("cities/19.delete", "")
	p.expect(exitFailed, "", replace(""), "say how many cities the publisher has", "nothing was sent")
	p.expect(exitFailed, "", append(words("push --replace --expect 19 --to "+to), dir), "run riskdex changes --now", "nothing was sent")
	p.expect(exitFailed, "", words("push --replace --to "+to), "--replace is for pushing a folder")
	p.expect(exitFailed, "", replace("--expect 20"), "the list has 19 cities, and the publisher 20", "nothing was sent")
	p.expect(exitFailed, "", replace("--expect 19 --at-most 0"), "0 deliveries not accepted", "1 of 20 cities would be removed, and --at-most 0 allows 0")
	p.drained()
	if n := len(p.indexed(report.Cities)); n != 20 {
		t.Fatalf("%d cities", n)
	}
	if status := p.send("PUT", "/cities/after", `{"title":"delivered after the folder was made"}`); status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	p.expect(exitDone, "", replace("--at-most 5% --expect cities=19"), "cities: 19 in the list", "1 here and not in the list, 1 delivered since", "1 of 1 removed")
	p.has(report.Cities, append(words(numbers(1, 18)), "21", "after")...)
	p.has(report.Advisories, "1")
	put("advisories.json", `{"advisories":[]}`)
	p.expect(exitFailed, "", replace(""), "nothing was sent: there are no advisories in it")
	put("advisories.json", `{"advisories":[{"id":1}]}`)
	put("special-reports/1.json", `[]`)
	p.expect(exitFailed, "", replace(""), "nothing was sent: special-reports/1.json: ")
}

// TestPushReplaceKilled ends riskdex, and then the command, while it delivers and while it removes.
// What the folder has is never removed, and the command ends the job when it is run again.
func TestPushReplaceKilled(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "cities"), 0o700))
	var before string
	deliver := func() { // twenty documents, of which a newer folder has ten
		p.deliverCities(20)
		before = p.now()
		for i := range 10 {
			name := filepath.Join(dir, "cities", fmt.Sprint(i+1)+".json")
			require.NoError(t, os.WriteFile(name, []byte(`{"title":"in the folder"}`), 0o600))
		}
	}
	replace := func(to string) []string {
		return append(words("push --replace --expect 10 "+before+" --at-most 100% --to "+to), dir)
	}
	const delivering, removing = 5, 15 // of the requests
	deliver()
	p.expect(exitDone, "", replace(p.before(func(n int64, _ http.ResponseWriter, _ *http.Request) bool {
		if n == delivering || n == removing {
			p.kill()
			p.start()
		}
		return false
	})), "10 of 10 removed")
	p.has(report.Cities, words(numbers(1, 10))...)

	for _, at := range []int64{delivering, removing} {
		deliver()
		reached := make(chan struct{})
		command := p.begin(replace(p.before(func(n int64, _ http.ResponseWriter, r *http.Request) bool {
			if n == at {
				close(reached)
			}
			if n >= at {
				_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection goes unnoticed
				<-r.Context().Done()
			}
			return n >= at
		}))...)
		go func() {
			select {
			case <-reached:
				_ = command.cmd.Process.Kill()
			case <-t.Context().Done():
			}
		}()
		if got := command.wait(); got.status != -1 {
			t.Fatalf("the command was not killed at request %d: %+v", at, got)
		}
		p.drained()
		left := p.indexed(report.Cities)
		for _, id := range words(numbers(1, 10)) {
			if _, is := left[id]; !is {
				t.Errorf("killed at request %d: city %s, which the folder has, is gone", at, id)
			}
		}
		p.expect(exitDone, "", replace("http://"+p.deliveries), "removed")
		p.has(report.Cities, words(numbers(1, 10))...)
	}
}

// TestPushReplaceOfTheSampleFeed: what the folder puts by code is that of the list beside it.
func TestPushReplaceOfTheSampleFeed(t *testing.T) {
	t.Parallel()
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	requests, err := samplefeed.Feed()
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "enveloped")
	require.NoError(t, push.WriteDir(dir, requests))
	replace := "push --replace --to http://" + p.deliveries + " " + p.now() + " --expect "
	p.expect(exitFailed, "", words(replace+"1 "+dir), "nothing was sent: ", `jq -s 'map(."cities"[])' PAGES`)
	payloads, err := receiver.NewReader(receiver.DefaultConfig())
	require.NoError(t, err)
	for i, r := range requests {
		if kind := report.Kind(r.Path[1:]); r.Method == "POST" {
			changes, _, _, err := payloads.Records(kind, r.Body)
			require.NoError(t, err)
			var records []json.RawMessage
			for _, c := range changes {
				records = append(records, c.Body)
			}
			requests[i].Body, err = json.Marshal(records)
			require.NoError(t, err)
		}
	}
	var counts []string
	for _, kind := range report.Kinds() {
		list, err := reconcile.FromRequests(requests, kind, payloads)
		require.NoError(t, err)
		counts = append(counts, fmt.Sprintf("%s=%d", kind, list.Len()))
	}
	dir = filepath.Join(t.TempDir(), "feed")
	require.NoError(t, push.WriteDir(dir, requests))
	for range 2 {
		got := p.expect(exitDone, "", words(replace+strings.Join(counts, ",")+" "+dir), "nothing differs")
		if strings.Contains(got.out, "newer") || strings.Contains(got.out, "since") {
			t.Errorf("said %s", got.out)
		}
	}
}

// TestReconcileEndsWhileItReads interrupts it while it waits for its list.
func TestReconcileEndsWhileItReads(t *testing.T) {
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := reconcileCommand{adminSettings: adminSettings{Admin: "http://127.0.0.1:1"}, Kind: "cities", List: "-"}
	go func() {
		_, _ = out.Write([]byte("1\n2\n"))
		cancel()
	}()
	if err := c.Run(ctx, streams{io.Discard, io.Discard}, input{in}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	in.Close()
}

// TestPushEndsWhileItReads interrupts it while it waits for lines.
func TestPushEndsWhileItReads(t *testing.T) {
	in, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := pushCommand{deliverySettings: deliverySettings{To: "http://127.0.0.1:1"}, From: "-"}
	if err := c.Run(ctx, streams{io.Discard, io.Discard}, input{in}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	in.Close()
}

func TestShare(t *testing.T) {
	for text, want := range map[string]int{"5%": 50, "0%": 0, "0.1%": 1, "0.19%": 1, "100%": 1000, "0": 0, "17": 17, "5000": 5000} {
		var s share
		if err := s.UnmarshalText([]byte(text)); err != nil || s.of(1000) != want || strings.ReplaceAll(s.String(), ",", "") != text {
			t.Errorf("%s of 1000 is %d (%v, %v), want %d", text, s.of(1000), s, err, want)
		}
	}
	for _, text := range []string{"", "%", "-1", "-1%", "101%", "NaN%", "1.5", "five"} {
		if err := new(share).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a share", text)
		}
	}
}

func TestExpected(t *testing.T) {
	for text, want := range map[string]expected{
		"0": {"": 0}, "293": {"": 293}, "cities=293": {report.Cities: 293}, "cities=2,advisories=0": {report.Cities: 2, report.Advisories: 0},
		"": nil, "-1": nil, "x": nil, "cities": nil, "cities=": nil, "=2": nil, "towns=2": nil, "1,cities=x": nil,
	} {
		var e expected
		if err := e.UnmarshalText([]byte(text)); (err == nil) != (want != nil) || err == nil && !maps.Equal(e, want) {
			t.Errorf("%q is %v, %v", text, e, err)
		}
	}
}

// TestReconcileKnowsTheEnd: an answer that may be cut leads to no finding.
func TestReconcileKnowsTheEnd(t *testing.T) {
	const line = `{"kind":"cities","id":"1","version":7,"accepted_at":"2026-01-01T00:00:00Z","record":{"a":1}}` + "\n"
	for _, c := range []struct{ body, records, want string }{
		{line, "", "it may be cut"}, {line, "2", "1 documents came of 2"}, {line, "1", ""}, {line + line[:20], "1", "broke off"}, {"x\n", "1", "cannot be read"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, name := range []string{"Riskdex-Records", "Riskdex-Damaged", "Riskdex-Dropped"} {
				w.Header().Add("Trailer", name)
			}
			fmt.Fprint(w, c.body)
			w.Header().Set("Riskdex-Records", c.records)
			w.Header().Set("Riskdex-Damaged", "0")
			w.Header().Set("Riskdex-Dropped", "0")
		}))
		var out, log bytes.Buffer
		status := run(t.Context(), []string{"reconcile", "cities", writeList(t, "1\n"), "--admin", server.URL}, streams{&out, &log})
		server.Close()
		if (status == exitDone) != (c.want == "") || !strings.Contains(log.String(), c.want) {
			t.Errorf("after %q and %q records: %d, %s", c.body, c.records, status, log.String())
		}
	}
}
