package receiver

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/receiver/auth"
	"riskdex/report"
)

// A delivery with a signed id takes effect once, is answered as the first time,
// and its id is good for no other: not with another body, and not on another path,
// which the signature does not cover.
func TestSignedDeliveryTakesEffectOnce(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	body := `[{"id": 1, "title": "old"}, {"title": "no id"}]`
	answer := func(got reply) string {
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		return string(sum[:])
	}
	first := g.signed("POST", "/cities", "msg_1", body)
	if first.status != http.StatusAccepted || first.Accepted != 1 || len(first.Refused) != 1 {
		t.Fatalf("%+v", first)
	}
	g.signed("PUT", "/cities/1", "msg_2", `{"id": 1, "title": "newer"}`)
	for _, when := range []string{"at once", "after a restart", "signed anew, minutes later"} {
		switch when {
		case "after a restart":
			g.close()
			g.open()
		case "signed anew, minutes later":
			g.later(9 * time.Minute)
		}
		if got := g.signed("POST", "/cities", "msg_1", body); got.status != http.StatusAccepted || answer(got) != answer(first) {
			t.Errorf("%s it is answered %+v, want %+v", when, got, first)
		}
		if got := g.signed("POST", "/cities", "msg_1", zipped(t, body), "Content-Encoding", "gzip"); answer(got) != answer(first) {
			t.Errorf("%s, compressed, it is answered %+v, want %+v", when, got, first)
		}
	}
	if g.accepted() != 2 || len(g.kept()) != 1 {
		t.Errorf("%d changes are accepted and %d refusals kept, want 2 and 1", g.accepted(), len(g.kept()))
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "cities"); n != 0 { // since the restart
		t.Errorf("%v refused records are counted, want none", n)
	}
	changes, err := g.journal.Claim(t.Context(), report.Cities, 10, 1<<20)
	if err != nil || len(changes) != 1 || !strings.Contains(string(changes[0].Body), "newer") {
		t.Errorf("the journal has %+v, %v", changes, err)
	}

	signedOnce := signedHeader(g, "msg_3", "")
	if got := g.send("DELETE", "/cities/7", "", signedOnce...); got.status != http.StatusAccepted {
		t.Fatalf("%+v", got)
	}
	for what, got := range map[string]reply{
		"another body":                      g.signed("POST", "/cities", "msg_1", `[{"id": 2}]`),
		"the same JSON in other bytes":      g.signed("POST", "/cities", "msg_1", strings.ReplaceAll(body, ": ", ":")),
		"another kind":                      g.signed("POST", "/advisories", "msg_1", body),
		"an intercepted delete, turned":     g.send("DELETE", "/cities/1", "", signedOnce...),
		"an intercepted delete, other kind": g.send("DELETE", "/advisories/7", "", signedOnce...),
	} {
		if got.status != http.StatusConflict || got.Reason != reasonIDReused {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if g.accepted() != 3 || len(g.kept()) != 6 {
		t.Errorf("%d changes are accepted and %d refusals kept, want 3 and 6", g.accepted(), len(g.kept()))
	}
}

// Of many that come at once one takes effect, and all have the same answer.
func TestConcurrentRepeatsTakeEffectOnce(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			if got := g.signed("PUT", "/cities/1", "msg_1", `{"title": "x"}`); got.status != http.StatusAccepted || got.Accepted != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
	wait.Wait()
	if n := g.accepted(); n != 1 {
		t.Errorf("%d changes are accepted, want 1", n)
	}
}

// A delivery that did not become durable may come again under its id, and so may
// one that was refused.
func TestWhatFailedMayComeAgain(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	if got := g.signed("PUT", "/cities/1", "msg_1", `{`); got.status != http.StatusBadRequest {
		t.Errorf("%+v", got)
	}
	if err := g.journal.Close(); err != nil {
		t.Fatal(err)
	}
	if got := g.signed("PUT", "/cities/1", "msg_1", `{}`); got.status != http.StatusServiceUnavailable {
		t.Errorf("%+v", got)
	}
	g.close()
	g.open()
	if got := g.signed("PUT", "/cities/1", "msg_1", `{}`); got.status != http.StatusAccepted || g.accepted() != 1 {
		t.Errorf("%+v", got)
	}
}

// An id that nobody has signed is anybody's, and no reason to leave out a delivery.
func TestUnsignedIDsMakeNoReceipts(t *testing.T) {
	g := guard(t, auth.Config{HubFiles: secretFile(t, webhookKey)})
	for i, body := range []string{`{"title": "a"}`, `{"title": "b"}`, `{"title": "b"}`} {
		if got := g.signed("PUT", "/cities/1", "", body, "Webhook-Id", "msg_1"); got.status != http.StatusAccepted || g.accepted() != uint64(i+1) {
			t.Errorf("%s: %+v, %d accepted", body, got, g.accepted())
		}
	}
}
