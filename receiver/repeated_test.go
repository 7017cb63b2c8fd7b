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

// A delivery with a signed id takes effect once, and a repeat is answered like the first.
// Its id is not accepted with another body, nor on another path, which the signature does
// not cover.
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
		t.Fatalf("the first delivery is answered %+v, want one accepted and one refused", first)
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
			t.Errorf("%s the repeat is answered %+v, want %+v", when, got, first)
		}
		if got := g.signed("POST", "/cities", "msg_1", zipped(t, body), "Content-Encoding", "gzip"); answer(got) != answer(first) {
			t.Errorf("%s the compressed repeat is answered %+v, want %+v", when, got, first)
		}
	}
	if g.accepted() != 2 || len(g.kept()) != 1 {
		t.Errorf("%d changes are accepted and %d refusals kept, want 2 and 1", g.accepted(), len(g.kept()))
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "cities"); n != 0 { // since the restart
		t.Errorf("%v refused records are counted for the repeats, want none", n)
	}
	changes, err := g.journal.Claim(t.Context(), report.Cities, 10, 1<<20)
	if err != nil || len(changes) != 1 || !strings.Contains(string(changes[0].Body), "newer") {
		t.Errorf("the journal has %+v, %v", changes, err)
	}

	signedOnce := signedHeader(g, "msg_3", "")
	if got := g.send("DELETE", "/cities/7", "", signedOnce...); got.status != http.StatusAccepted {
		t.Fatalf("the signed DELETE is answered %+v, want 202", got)
	}
	for what, got := range map[string]reply{
		"another body":                      g.signed("POST", "/cities", "msg_1", `[{"id": 2}]`),
		"the same JSON in other bytes":      g.signed("POST", "/cities", "msg_1", strings.ReplaceAll(body, ": ", ":")),
		"another kind":                      g.signed("POST", "/advisories", "msg_1", body),
		"an intercepted delete, turned":     g.send("DELETE", "/cities/1", "", signedOnce...),
		"an intercepted delete, other kind": g.send("DELETE", "/advisories/7", "", signedOnce...),
	} {
		if got.status != http.StatusConflict || got.Reason != reasonIDReused {
			t.Errorf("%s is answered %+v, want 409", what, got)
		}
	}
	if g.accepted() != 3 || len(g.kept()) != 6 {
		t.Errorf("%d changes are accepted and %d refusals kept, want 3 and 6", g.accepted(), len(g.kept()))
	}
}

// Of concurrent repeats one takes effect, and all get the same answer.
func TestConcurrentRepeatsTakeEffectOnce(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			if got := g.signed("PUT", "/cities/1", "msg_1", `{"title": "x"}`); got.status != http.StatusAccepted || got.Accepted != 1 {
				t.Errorf("a concurrent repeat is answered %+v, want 202 with one accepted", got)
			}
		})
	}
	wait.Wait()
	if n := g.accepted(); n != 1 {
		t.Errorf("%d changes are accepted, want 1", n)
	}
}

// A signed DELETE of a version that is not the newest takes no effect later either, when somebody
// repeats it without the version.
func TestSignedDeleteOfOneVersionHasAReceipt(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	g.signed("PUT", "/cities/7", "msg_1", `{"t":1}`)
	accepted := g.accepted()
	for _, c := range []struct {
		id     string
		header []string
	}{
		{"msg_2", []string{"If-Match", `"1"`}},
		{"msg_2", []string{"If-Match", `"1"`}},
		{"msg_2", nil},
		{"msg_3", []string{"If-Match", `W/"1"`}}, // which can be no version
		{"msg_3", nil},
	} {
		if got := g.signed("DELETE", "/cities/7", c.id, "", c.header...); got.status != http.StatusPreconditionFailed || got.Reason != reasonOutdated || g.accepted() != accepted {
			t.Errorf("%s with %q is answered %+v", c.id, c.header, got)
		}
	}
}

// A repeat of a refused delivery gets the same answer, and its signature is not accepted
// on another path: otherwise somebody who has seen the delivery, and its 404 because of a
// wrong prefix, could have it accepted elsewhere.
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
		elsewhere          string // where it would be accepted if it came there first
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
			t.Errorf("%s %s is answered %+v", c.method, c.path, first)
			continue
		}
		kept, accepted := len(g.kept()), g.accepted()
		noted := g.counted("riskdex_changes_refused_total")
		again := g.signed(c.method, c.path, id, c.body, c.header...)
		first.header, again.header = nil, nil
		if !reflect.DeepEqual(again, first) || len(g.kept()) != kept || g.accepted() != accepted || g.counted("riskdex_changes_refused_total") != noted {
			t.Errorf("%s %s again is answered %+v, and first %+v; %d refusals are kept, before %d", c.method, c.path, again, first, len(g.kept()), kept)
		}
		if got := g.signed(c.method, c.elsewhere, id, c.body, c.header...); got.status != http.StatusConflict || g.accepted() != accepted {
			t.Errorf("%s %s at %s is answered %+v", c.method, c.path, c.elsewhere, got)
		}
	}
	if got := g.signed("PUT", "/api/cities/1", "msg_8", "no gzip either", zip...); got.status != http.StatusConflict {
		t.Errorf("another unreadable delivery with the same id is answered %+v, want 409", got)
	}
	// A corrected delivery is another delivery, with an id of its own.
	if got := g.signed("PUT", "/api/cities/1", "msg_7", `{"t":1}`); got.status != http.StatusConflict {
		t.Errorf("corrected, with the same id: answered %+v", got)
	}
	if got := g.signed("PUT", "/api/cities/1", "msg_mended", `{"t":1}`); got.status != http.StatusAccepted {
		t.Errorf("corrected, with an id of its own: answered %+v", got)
	}
}

// A delivery that did not become durable may be repeated with its id. A refusal is
// answered only once its receipt is durable.
func TestWhatFailedMayComeAgain(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	if err := g.journal.Close(); err != nil {
		t.Fatal(err)
	}
	for id, body := range map[string]string{"msg_1": `{"t":1}`, "msg_2": `{`} {
		if got := g.signed("PUT", "/cities/1", id, body); got.status != http.StatusServiceUnavailable {
			t.Errorf("%s is answered %+v while the journal fails, want 503", body, got)
		}
	}
	g.close()
	g.open()
	if got := g.signed("PUT", "/cities/1", "msg_1", `{"t":1}`); got.status != http.StatusAccepted || g.accepted() != 1 {
		t.Errorf("the repeat is answered %+v, want 202 and one change accepted", got)
	}
	if got := g.signed("PUT", "/cities/1", "msg_2", `{`); got.status != http.StatusBadRequest || len(g.kept()) != 1 {
		t.Errorf("the repeat of the refused one is answered %+v, want 400 and one refusal kept", got)
	}
}

// A receipt has counts, and not the list of refusals, so that its size is bounded.
func TestReceiptsAreSmall(t *testing.T) {
	rec := &recorder{}
	r := receiverOn(t, rec)
	for _, body := range []string{`[{"id":1}` + strings.Repeat(`,{}`, 50_000) + `]`, `[{}` + strings.Repeat(`,{}`, 50_000) + `]`} {
		rec.deliveries = nil
		d := r.newDelivery(call{kind: report.Cities, method: "POST"}, httptest.NewRecorder(), httptest.NewRequest("POST", "/cities", strings.NewReader(body)))
		d.signedID = "msg_1"
		if in, p := r.parser.parse(d.call, []byte(body), unbounded); p != nil {
			t.Fatal(p)
		} else if len(in.changes) > 0 {
			r.accept(d, in, []byte(body))
		} else {
			r.decline(d, noneAccepted(in.refused), in.refused, []byte(body))
		}
		if receipt := rec.deliveries[0].Receipt; receipt == nil || len(receipt.Answer) > 1000 {
			t.Errorf("the receipt is %+v, want it small", receipt)
		}
		d.reader.Close()
	}
}

// Anybody can use an unsigned id, so it is no reason to skip a delivery.
func TestUnsignedIDsMakeNoReceipts(t *testing.T) {
	g := guard(t, auth.Config{HubFiles: secretFile(t, webhookKey)})
	for i, body := range []string{`{"title": "a"}`, `{"title": "b"}`, `{"title": "b"}`} {
		if got := g.signed("PUT", "/cities/1", "", body, "Webhook-Id", "msg_1"); got.status != http.StatusAccepted || g.accepted() != uint64(i+1) {
			t.Errorf("%s is answered %+v, and %d changes are accepted", body, got, g.accepted())
		}
	}
}
