package receiver

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
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

// What was refused is answered the same when it comes again, and its signature is
// good for no other path: whoever is told of a wrong prefix by a 404 and has seen the
// delivery could have it accepted where it was not sent.
func TestRefusedDeliveryHasAReceipt(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	g.prefix = "/api"
	g.close()
	g.open()
	zip := []string{"Content-Encoding", "gzip"}
	for i, c := range []struct {
		method, path, body string
		header             []string
		status             int
		elsewhere          string // where it would be accepted, if that were the first path
	}{
		{"POST", "/cities", `{"id":1}`, nil, http.StatusNotFound, "/api/cities"},
		{"POST", "/api/cities/1/2", `{"id":1}`, nil, http.StatusNotFound, "/api/cities"},
		{"DELETE", "/cities/1", ``, nil, http.StatusNotFound, "/api/cities/1"},
		{"POST", "/api/cities/1", `{"id":1}`, nil, http.StatusMethodNotAllowed, "/api/cities"},
		{"POST", "/api/cities", `[{"code":"LON"},{"id":"` + strings.Repeat("x", 600) + `"},{}]`, nil, http.StatusAccepted, "/api/advisories"},
		{"POST", "/api/advisories", `[{"code":"LON"},{}]`, nil, http.StatusUnprocessableEntity, "/api/cities"},
		{"PUT", "/api/cities/" + strings.Repeat("x", 600), `{}`, nil, http.StatusUnprocessableEntity, "/api/cities/1"},
		{"PUT", "/api/cities/1", `{`, nil, http.StatusBadRequest, "/api/cities/2"},
		{"PUT", "/api/cities/1", `no gzip`, zip, http.StatusBadRequest, "/api/cities/2"},
		{"PUT", "/api/cities/1", zipped(t, strings.Repeat(" ", 2<<20)), zip, http.StatusRequestEntityTooLarge, "/api/cities/2"},
		{"PUT", "/api/cities/1", `{}`, []string{"Content-Encoding", "br"}, http.StatusUnsupportedMediaType, "/api/cities/2"},
	} {
		id := fmt.Sprint("msg_", i)
		first := g.signed(c.method, c.path, id, c.body, c.header...)
		if first.status != c.status {
			t.Errorf("%s %s: %+v", c.method, c.path, first)
			continue
		}
		kept, accepted := len(g.kept()), g.accepted()
		noted := g.counted("riskdex_changes_refused_total")
		again := g.signed(c.method, c.path, id, c.body, c.header...)
		first.header, again.header = nil, nil
		if !reflect.DeepEqual(again, first) || len(g.kept()) != kept || g.accepted() != accepted || g.counted("riskdex_changes_refused_total") != noted {
			t.Errorf("%s %s again: %+v, first %+v; %d refusals kept, before %d", c.method, c.path, again, first, len(g.kept()), kept)
		}
		if got := g.signed(c.method, c.elsewhere, id, c.body, c.header...); got.status != http.StatusConflict || g.accepted() != accepted {
			t.Errorf("%s %s at %s: %+v", c.method, c.path, c.elsewhere, got)
		}
	}
	if got := g.signed("PUT", "/api/cities/1", "msg_8", "no gzip either", zip...); got.status != http.StatusConflict {
		t.Errorf("another that cannot be read: %+v", got)
	}
	// A mistake that is mended is another delivery, and has an id of its own.
	if got := g.signed("PUT", "/api/cities/1", "msg_7", `{"t":1}`); got.status != http.StatusConflict {
		t.Errorf("mended, under the same id: %+v", got)
	}
	if got := g.signed("PUT", "/api/cities/1", "msg_mended", `{"t":1}`); got.status != http.StatusAccepted {
		t.Errorf("mended, under its own id: %+v", got)
	}
}

// A delivery that did not become durable may come again under its id. One that is to
// be refused is told so only once its receipt is durable.
func TestWhatFailedMayComeAgain(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	if err := g.journal.Close(); err != nil {
		t.Fatal(err)
	}
	for id, body := range map[string]string{"msg_1": `{"t":1}`, "msg_2": `{`} {
		if got := g.signed("PUT", "/cities/1", id, body); got.status != http.StatusServiceUnavailable {
			t.Errorf("%s: %+v", body, got)
		}
	}
	g.close()
	g.open()
	if got := g.signed("PUT", "/cities/1", "msg_1", `{"t":1}`); got.status != http.StatusAccepted || g.accepted() != 1 {
		t.Errorf("%+v", got)
	}
	if got := g.signed("PUT", "/cities/1", "msg_2", `{`); got.status != http.StatusBadRequest || len(g.kept()) != 1 {
		t.Errorf("%+v", got)
	}
}

// A receipt holds counts, and not what was listed, so that its size is bounded.
func TestReceiptsAreSmall(t *testing.T) {
	rec := &recorder{}
	r := receiverOn(t, rec)
	for _, body := range []string{`[{"id":1}` + strings.Repeat(`,{}`, 50_000) + `]`, `[{}` + strings.Repeat(`,{}`, 50_000) + `]`} {
		rec.deliveries = nil
		d := r.newDelivery(call{kind: report.Cities, method: "POST"}, httptest.NewRecorder(), httptest.NewRequest("POST", "/cities", strings.NewReader(body)))
		d.signedID = "msg_1"
		if in, p := r.parse(d.call, []byte(body), unbounded); p != nil {
			t.Fatal(p)
		} else if len(in.changes) > 0 {
			r.accept(d, in, []byte(body))
		} else {
			r.decline(d, noneAccepted(in.refused), in.refused, []byte(body))
		}
		if receipt := rec.deliveries[0].Receipt; receipt == nil || len(receipt.Answer) > 1000 {
			t.Errorf("the receipt is %+v", receipt)
		}
		d.reader.Close()
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
