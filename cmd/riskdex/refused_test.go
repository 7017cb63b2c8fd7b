package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/receiver/auth"
	"riskdex/report"
)

func TestRefusedCommands(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.send("PUT", "/cities/1", `{"title":"broken",}`)                                  // 1
	p.send("POST", "/advisories", `[{"id":2,"title":"fine"},{"title":"\u001b[2J x"}]`) // 2
	p.send("POST", "/countries", `{"id":3}`)                                           // 3
	p.send("POST", "/cities", `{"id":4,"title":"old"`)                                 // 4

	list := p.expect(exitDone, "", words("refused list"), "4 refusals kept", "invalid_json", "missing_id", "unknown_path", "PUT /cities/1")
	if strings.Contains(list.out, "\x1b") {
		t.Errorf("a control character in %q", list.out)
	}
	p.expect(exitDone, "", words("refused list --reason missing_id"), "1 refusal kept")
	p.expect(exitDone, "", words("refused list --kind cities"), "2 refusals kept")
	var numbers []int64
	for line := range strings.Lines(p.expect(exitDone, "", words("refused list --json")).out) {
		var r admin.Refusal
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		numbers = append(numbers, r.Number)
	}
	if len(numbers) != 4 || numbers[0] != 4 || numbers[3] != 1 {
		t.Errorf("listed as JSON: %v", numbers)
	}
	p.expect(exitDone, "", words("refused show 2"), "record 1", "missing_id", "refused retry 2")
	if got := p.expect(exitDone, "", words("refused show 1 --body")).out; got != `{"title":"broken",}` {
		t.Errorf("--body prints %q", got)
	}
	p.expect(exitNegative, "", words("refused show 99"), "not there")

	p.expect(exitNegative, "", words("refused retry 1"), "not JSON")
	p.expect(exitNegative, "", words("refused retry 3"), "right path")
	p.expect(exitNegative, "", words("refused retry --all"), "4 are refused again")
	p.expect(exitDone, `{"title":"corrected"}`, words("refused retry 1 --body -"), "1 document accepted")
	p.expect(exitDone, `{"id":"9","title":"with an id"}`, words("refused retry 2 --body -"), "1 document accepted")
	p.send("PUT", "/cities/4", `{"id":4,"title":"new"}`)
	p.expect(exitDone, `{"id":4,"title":"old"}`, words("refused retry 4 --body -"), "0 documents accepted", "left alone")
	p.drained()
	cities, advisories := p.indexed(report.Cities), p.indexed(report.Advisories)
	if string(cities["1"]) != `{"title":"corrected"}` || string(cities["4"]) != `{"id":4,"title":"new"}` || string(advisories["9"]) != `{"id":"9","title":"with an id"}` {
		t.Errorf("the index has %s and %s", cities, advisories)
	}
	p.expect(exitDone, "", words("refused list"), "1 refusal kept")
	p.expect(exitNegative, "", words("refused drop 98 3"), "It is not there", "1 dropped")
	p.expect(exitNegative, "", words("refused drop --all --yes"), "nothing to do")
}

// TestReplayIsNotRetried sends a signed delivery once more, to another path. No retry
// carries it out, and it does not keep others from being retried.
func TestReplayIsNotRetried(t *testing.T) {
	secret := secretFile(t, "whsec_"+base64.StdEncoding.EncodeToString([]byte("the webhook key, of enough bytes")))
	credentials, err := auth.NewCredentials(auth.Config{WebhookFiles: []string{secret}}, time.Now)
	require.NoError(t, err)
	p := newProcess(t, "http://127.0.0.1:1", "--webhook-secret-file", secret)
	p.start()
	send := func(method, path, body string, h http.Header) int {
		req, err := http.NewRequest(method, "http://"+p.deliveries+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header = h
		res, err := p.sender.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	signed := func(id, body string) http.Header {
		h := http.Header{}
		credentials.Show(h, id, []byte(body))
		return h
	}
	for i, path := range []string{"/advisories/1", "/advisories/2"} {
		if got := send("PUT", path, `{"t":1}`, signed(fmt.Sprint("put", i), `{"t":1}`)); got != http.StatusAccepted {
			t.Fatalf("PUT %d: %d", i, got)
		}
	}
	h := signed("delete", "")
	if got := send("DELETE", "/advisories/1", "", h); got != http.StatusAccepted {
		t.Fatalf("DELETE: %d", got)
	}
	if got := send("POST", "/advisories", `{"ref":3}`, signed("post", `{"ref":3}`)); got != http.StatusUnprocessableEntity { // 1
		t.Fatalf("the delivery without an id is answered %d", got)
	}
	if got := send("DELETE", "/advisories/2", "", h); got != http.StatusConflict { // 2
		t.Fatalf("the replay is answered %d", got)
	}
	p.expect(exitNegative, "", words("refused retry 2"), "id of its own")
	p.expect(exitNegative, `{}`, words("refused retry 2 --body -"), "id of its own")
	p.terminate()
	p.extra = append(p.extra, "--ids", "advisories=/ref")
	p.start()
	p.expect(exitNegative, "", words("refused retry --all"), "1 is refused again", "1 document accepted")
	p.expect(exitDone, "", words("refused list"), "1 refusal kept", "id_reused")
	if n, _ := p.metrics().Sum("riskdex_changes_accepted_total", `op="delete"`, `kind="advisories"`); n != 1 {
		t.Errorf("%v deletes were accepted, want 1", n)
	}
}
