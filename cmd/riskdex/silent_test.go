package main

import (
	"net/http"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
)

// TestLastDeliveryOutlastsARestart: it is told by status, page and metrics, after kill -9 too.
func TestLastDeliveryOutlastsARestart(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0", "--expect-every", "cities=24h,acme=1h")
	p.start()
	p.expect(exitDone, "", words("status"), "nothing was ever delivered")
	if status := p.send("PUT", "/cities/1", `{"title":"x"}`); status != http.StatusAccepted {
		t.Fatalf("answered %d", status)
	}
	const last, due = `riskdex_last_accepted_timestamp_seconds{kind="cities",sender=""}`, `riskdex_delivery_expected_timestamp_seconds{kind="cities",sender=""}`
	eventually(t, "it is in the journal", func() bool { return p.metrics()[last] > 0 })
	at := p.metrics()[last]
	p.kill()
	p.start()
	p.indicesReady()
	if m := p.metrics(); m[last] != at || m[due] != at+24*3600 || m[`riskdex_delivery_expected_timestamp_seconds{kind="",sender="acme"}`] < at || m[`riskdex_delivery_expected_timestamp_seconds{kind="advisories",sender=""}`] != 0 {
		t.Errorf("after kill -9, of %v: %v, expected by %v", at, m[last], m[due])
	}
	p.drained()
	p.expect(exitDone, "", words("status"), "all is well; last delivery ", "LAST DELIVERY")
	if page := p.page("/"); !strings.Contains(page, "Last delivery <time") {
		t.Errorf("the page: %s", page)
	}
}

// TestExpectationsAreRead: for all kinds, and for kinds and senders.
func TestExpectationsAreRead(t *testing.T) {
	for text, wrong := range map[string]string{
		"24h": "", "7d": "", "cities=24h,advisories=30d,acme=1h": "", "24h,acme=1h": "",
		"": "not a duration", "x": "not a duration", "cities": "not a duration", "cities=": "not a duration", "=1h": "write it like 24h",
		"cities=1h,cities=2h": "write it like 24h", "1s": "too short",
	} {
		err := new(expectation).UnmarshalText([]byte(text))
		if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v, want %q", text, err, wrong)
		}
	}
}
