package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Whoever has an answer finds what the log and the history say about it.
func TestAnswerLeadsToItsLines(t *testing.T) {
	p := newProcess(t, "http://127.0.0.1:1", "--log-format", "json", "--log-level", "debug", "--history", "1d")
	p.start()
	send := func(url, id, body string) (header http.Header, answer map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Request-Id", id)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return resp.Header, answer
	}
	line := func(id, message string) (found map[string]any) {
		t.Helper()
		eventually(t, fmt.Sprintf("a line says %q with the request id %q", message, id), func() bool {
			for text := range strings.Lines(p.log.String()) {
				var entry map[string]any
				if json.Unmarshal([]byte(text), &entry) == nil && entry["request_id"] == id && entry["msg"] == message {
					found = entry
				}
			}
			return found != nil
		})
		return found
	}
	deliveries := "http://" + p.deliveries + "/cities/1"

	header, answer := send(deliveries, "gateway-1", cityBody(1, "x"))
	if id := header.Get("X-Request-Id"); id != "gateway-1" {
		t.Errorf("the answer has the request id %q, want that of the request", id)
	}
	if logged := line("gateway-1", "delivery accepted")["delivery"]; logged != answer["delivery"] || logged == nil {
		t.Errorf("the log names the delivery %v, the answer %v", logged, answer["delivery"])
	}

	if versions := p.past("cities", "1", "").Versions; len(versions) != 1 || versions[0].RequestID != "gateway-1" {
		t.Errorf("the history is %+v, want one version of the request gateway-1", versions)
	}
	p.expect(1, "", []string{"show", "cities", "1"}, "request gateway-1") // it waits

	header, _ = send(deliveries, "not usable", "{")
	line(header.Get("X-Request-Id"), "delivery refused")

	header, _ = send("http://"+p.admin+"/api/status", "admin-1", "")
	if id := header.Get("X-Request-Id"); id != "admin-1" {
		t.Errorf("the answer of the admin listener has the request id %q", id)
	}
}
