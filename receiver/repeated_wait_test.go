package receiver

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"riskdex/receiver/auth"
	"riskdex/report"
)

// TestRepeatWaitsForTheSearch: a signed delivery that comes again, perhaps because the answer to
// the first was lost, waits for what the first one delivered, or for something newer.
func TestRepeatWaitsForTheSearch(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	var asked [][]report.Stamp
	shown := 0
	g.await = func(_ context.Context, _ report.Kind, stamps []report.Stamp) int {
		asked = append(asked, stamps)
		return min(shown, len(stamps))
	}
	g.close()
	g.open()
	g.signed("PUT", "/cities/1", "msg_0", `{"id":1,"code":"LON"}`)
	for _, c := range []struct {
		method, path, body string
		accepted           int
		ids                []report.ID
		after              string // an update in between
	}{
		{"PUT", "/cities/LON", `{"title":"x"}`, 1, []report.ID{"1"}, ""},
		{"PUT", "/cities/LON", `{"title":"y"}`, 1, []report.ID{"1"}, "/cities/1"},
		{"POST", "/cities", `[{"id":2},{"title":"no id"},{"id":3},{"id":2}]`, 3, []report.ID{"2", "3", "2"}, "/cities/3"},
		{"DELETE", "/cities/LON", "", 1, []report.ID{"1"}, ""},
		{"DELETE", "/cities/never", "", 1, []report.ID{"never"}, ""},
		{"POST", "/cities", `[]`, 0, nil, ""},
	} {
		id := "msg_" + c.method + c.path + c.body
		id = string(slices.DeleteFunc([]byte(id), func(b byte) bool { return b == '.' || b == ' ' }))
		g.signed(c.method, c.path, id, c.body)
		if c.after != "" {
			g.signed("PUT", c.after, id+"_after", `{"title":"newer"}`)
		}
		for shown = range c.accepted + 1 {
			asked = nil
			got := g.signed(c.method, c.path, id, c.body, "Prefer", "wait=10")
			want := http.StatusAccepted
			if shown == c.accepted {
				want = http.StatusOK
			}
			if got.status != want || got.Searchable == nil || *got.Searchable != shown || got.header.Get("Preference-Applied") == "" {
				t.Errorf("%s %s %s again, of which %d are shown, is answered %+v, want %d", c.method, c.path, c.body, shown, got, want)
			}
			if c.ids != nil && len(asked) != 1 {
				t.Fatalf("%s %s %s again waits for %+v", c.method, c.path, c.body, asked)
			}
			for i, id := range c.ids {
				if s := asked[0][i]; s.ID != id || s.Version == 0 && s.Effect != report.Unknown {
					t.Errorf("%s %s %s again waits for %+v, want %s", c.method, c.path, c.body, s, id)
				}
			}
		}
	}
	asked = nil
	g.signed("PUT", "/cities/1", "msg_refused", `{`)
	if got := g.signed("PUT", "/cities/1", "msg_refused", `{`, "Prefer", "wait=10"); got.status != http.StatusBadRequest || asked != nil {
		t.Errorf("a refused delivery again is answered %+v, and waits for %+v", got, asked)
	}
}

// TestDeleteOfADeletedDocumentWaits: the first delete may not be in the index yet.
func TestDeleteOfADeletedDocumentWaits(t *testing.T) {
	g := guard(t, auth.Config{})
	g.await = func(context.Context, report.Kind, []report.Stamp) int { return 0 }
	g.close()
	g.open()
	g.send("PUT", "/cities/1", `{"id":1}`)
	g.send("DELETE", "/cities/1", "")
	got := g.send("DELETE", "/cities/1", "", "Prefer", "wait=10")
	if got.status != http.StatusAccepted || got.Searchable == nil || *got.Searchable != 0 {
		t.Errorf("while a search finds the document, its DELETE is answered %+v", got)
	}
}
