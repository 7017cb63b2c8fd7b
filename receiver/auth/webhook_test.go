package auth

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/reread"
)

// The signatures were computed with the Python library of the specification's
// authors (standardwebhooks 1.1.0); the last one is also in the tests of all their
// libraries.
func TestWebhookSignaturesAreThoseOfTheSpecification(t *testing.T) {
	for _, v := range []struct{ key, id, timestamp, body, want string }{
		{keyOne, "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", "1800000000", body, "v1,GEFHkOBnuPJVp3iCPxjT8IYaOPNKIbun7f0SLPx4ljw="},
		{keyTwo, "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", "1800000000", body, "v1,SJgWqWFmAhFE++cn+77PnzQj/ctiB07oHhzmYYVVwIo="},
		{keyOne, "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", "1800000000", "", "v1,gAj9GlyYFlxnTLwK1OwpkQEXHyXa+qe/SvVBTCmxgbA="},
		{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", `{"test": 2432232314}`, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	} {
		if got := webhookHeader(t, v.key, v.id, v.timestamp, v.body)[5]; got != v.want {
			t.Errorf("%s %s: signed %s, want %s", v.key, v.timestamp, got, v.want)
		}
		g := start(t, Config{WebhookFiles: []string{file(t, v.key)}})
		var seconds int64
		fmt.Sscan(v.timestamp, &seconds)
		g.set(time.Unix(seconds, 0))
		res := g.send(v.body, webhookID, v.id, webhookTimestamp, v.timestamp, webhookSignature, v.want)
		if res.StatusCode != http.StatusOK || res.Header.Get("Signed-Id") != v.id {
			t.Errorf("%s: %d, id %q", v.want, res.StatusCode, res.Header.Get("Signed-Id"))
		}
	}
}

func TestWebhookSignaturesThatAreNotRight(t *testing.T) {
	g := start(t, Config{WebhookFiles: []string{file(t, keyOne)}})
	right := webhookHeader(t, keyOne, "msg_1", "1800000000", body)
	with := func(name, value string) []string {
		header := slices.Clone(right)
		header[slices.Index(header, name)+1] = value
		return header
	}
	signature := right[5]
	many := strings.Repeat("v1,"+base64.StdEncoding.EncodeToString(make([]byte, 32))+" ", maxSignatures)
	longest := strings.Repeat("x", maxWebhookID)

	g.want("right", "", body, right...)
	g.want("another key", CauseSignature, body, webhookHeader(t, keyTwo, "msg_1", "1800000000", body)...)
	g.want("another body", CauseSignature, strings.Replace(body, "130", "131", 1), right...)
	g.want("the same JSON in other bytes", CauseSignature, strings.ReplaceAll(body, ": ", ":"), right...)
	g.want("a body that breaks off", CauseSignature, body[:len(body)-1], right...)
	g.want("a longer body", CauseSignature, body+"\n", right...)
	g.want("no body", CauseSignature, "", right...)
	g.want("another id", CauseSignature, body, with(webhookID, "msg_2")...)
	g.want("another timestamp", CauseSignature, body, with(webhookTimestamp, "1800000001")...)
	g.want("a truncated signature", CauseSignature, body, with(webhookSignature, signature[:len(signature)-4])...)
	g.want("half a signature", CauseSignature, body, with(webhookSignature, "v1,"+base64.StdEncoding.EncodeToString(make([]byte, 16)))...)
	g.want("an empty signature", CauseSignature, body, with(webhookSignature, "v1,")...)
	g.want("no version", CauseMissing, body, with(webhookSignature, signature[3:])...)
	g.want("another version", CauseMissing, body, with(webhookSignature, "v1a"+signature[2:])...)
	g.want("a right one after many wrong ones", CauseMissing, body, with(webhookSignature, many+signature)...)
	g.want("a right one after wrong ones", "", body, with(webhookSignature, "v1a,abc v2 v1,!! "+many[:100]+" "+signature)...)
	g.want("the header twice", CauseMissing, body, append(slices.Clone(right), webhookSignature, signature)...)
	g.want("the id twice", CauseMissing, body, append(slices.Clone(right), webhookID, "msg_2")...)
	g.want("the timestamp twice", CauseMissing, body, append(slices.Clone(right), webhookTimestamp, "1800000000")...)
	for i := 0; i < len(right); i += 2 {
		g.want("no "+right[i], CauseMissing, body, slices.Delete(slices.Clone(right), i, i+2)...)
	}
	// Validly signed, but not acceptable.
	for _, id := range []string{"", "a.1800000000", "a b", "ä", longest + "x"} {
		g.want(fmt.Sprintf("the id %q", id), CauseMissing, body, webhookHeader(t, keyOne, id, "1800000000", body)...)
	}
	g.want("a long id", "", body, webhookHeader(t, keyOne, longest, "1800000000", body)...)
	for _, timestamp := range []string{"", "+1800000000", "01800000000", "1800000000.0", "1.8e9", "18000000000000000000000", "0x6b49d200", "now"} {
		g.want(fmt.Sprintf("the timestamp %q", timestamp), CauseMissing, body, webhookHeader(t, keyOne, "msg_1", timestamp, body)...)
	}
}

// TestWebhookHeadersOfSvix: those with another prefix are checked in the same way, and all that are
// there have to agree.
func TestWebhookHeadersOfSvix(t *testing.T) {
	g := start(t, Config{WebhookFiles: []string{file(t, keyOne)}})
	webhook := webhookHeader(t, keyOne, "msg_1", "1800000000", body)
	as := func(prefix string, header []string) []string {
		header = slices.Clone(header)
		for i := 0; i < len(header); i += 2 {
			header[i] = strings.Replace(header[i], "Webhook-", prefix, 1)
		}
		return header
	}
	svix := as("Svix-", webhook)
	g.want("right", "", body, svix...)
	g.want("another body", CauseSignature, body+" ", svix...)
	g.want("another key", CauseSignature, body, as("Svix-", webhookHeader(t, keyTwo, "msg_1", "1800000000", body))...)
	g.want("too old", CauseTimestamp, body, as("Svix-", webhookHeader(t, keyOne, "msg_1", "1799999000", body))...)
	g.want("both", "", body, append(slices.Clone(svix), webhook...)...)
	other := webhookHeader(t, keyOne, "msg_2", "1800000000", body)
	g.want("both, of two ids", CauseMissing, body, append(slices.Clone(svix), other...)...)
	g.want("both, of two ids, the other way", CauseMissing, body, append(as("Svix-", other), webhook...)...)
	g.want("a third prefix", CauseMissing, body, as("X-", webhook)...)
	for i := 0; i < len(webhook); i += 2 {
		mixed := append(slices.Delete(slices.Clone(webhook), i, i+2), svix[i:i+2]...)
		g.want(webhook[i]+" in the other", CauseMissing, body, mixed...)
		g.want("one of the other besides", CauseMissing, body, append(slices.Clone(webhook), svix[i:i+2]...)...)
	}
	if id := g.send(body, svix...).Header.Get("Signed-Id"); id != "msg_1" {
		t.Errorf("the id is %q", id)
	}
}

// TestRefusalsSayWhatIsWrong, as far as that helps nobody to guess a secret.
func TestRefusalsSayWhatIsWrong(t *testing.T) {
	g := start(t, Config{WebhookFiles: []string{file(t, keyOne)}, BearerFiles: []string{file(t, token)}})
	right := append(webhookHeader(t, keyOne, "msg_1", "1800000000", body), "Authorization", "Bearer "+token)
	with := func(name, value string) []string {
		header := slices.Clone(right)
		header[slices.Index(header, name)+1] = value
		return header
	}
	wrong := "another secret"
	for _, c := range []struct {
		header []string
		want   string
	}{
		{nil, "Authorization is missing with Bearer"},
		{right[6:], "Webhook-Id, Webhook-Timestamp and Webhook-Signature are missing"},
		{right[2:], "Webhook-Id is missing"},
		{append(slices.Clone(right), "Svix-Id", "msg_1"), "Svix-Timestamp is missing"},
		{with(webhookTimestamp, "soon"), "Webhook-Timestamp is not a whole number"},
		{with(webhookTimestamp, "1799990000"), "Webhook-Timestamp is more than 5 minutes away from the clock of riskdex, which is at 1800000000"},
		{with(webhookID, "a.b"), "Webhook-Id is not"},
		{with(webhookSignature, "x"), "Webhook-Signature holds no signature"},
		{with(webhookID, "msg_2"), wrong},
		{with("Authorization", "Bearer x"), wrong},
		{append([]string{"Authorization", "Bearer x"}, right[2:6]...), "Webhook-Id is missing"}, // says nothing of the token
	} {
		res := g.send(body, c.header...)
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), c.want) || strings.Contains(string(text), wrong) != (c.want == wrong) {
			t.Errorf("%q is answered %d %s, want %q", c.header, res.StatusCode, text, c.want)
		}
	}
}

func TestWebhookTimestampsAreGoodForFiveMinutes(t *testing.T) {
	g := start(t, Config{WebhookFiles: []string{file(t, keyOne)}})
	header := webhookHeader(t, keyOne, "msg_1", "1800000000", body)
	for age, want := range map[time.Duration]Cause{
		0: "", 5 * time.Minute: "", -5 * time.Minute: "",
		5*time.Minute + time.Millisecond: CauseTimestamp, -5*time.Minute - time.Millisecond: CauseTimestamp,
		time.Hour: CauseTimestamp, -time.Hour: CauseTimestamp,
	} {
		g.set(signedAt.Add(age))
		g.want(age.String(), want, body, header...)
	}
	g.set(signedAt)
	for _, timestamp := range []string{"-9223372036854775808", "9223372036854775807", "0", "-1"} {
		g.want(timestamp, CauseTimestamp, body, webhookHeader(t, keyOne, "msg_1", timestamp, body)...)
	}
}

// A delivery whose signature expires during the upload is refused: otherwise the time in
// which it may be repeated would not be bounded.
func TestWebhookTimestampIsCheckedWhenTheBodyIsThere(t *testing.T) {
	g := build(t, Config{WebhookFiles: []string{file(t, keyOne)}})
	r, err := http.NewRequest("PUT", "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := 0, webhookHeader(t, keyOne, "msg_1", "1800000000", body); i < len(h); i += 2 {
		r.Header.Set(h[i], h[i+1])
	}
	if refusal := g.authenticator.Authenticate(r); refusal != nil {
		t.Fatal(refusal.Cause)
	}
	g.set(signedAt.Add(Tolerance + time.Second))
	if _, refusal := g.authenticator.Verify(r, []byte(body)); refusal == nil || refusal.Cause != CauseTimestamp {
		t.Errorf("refusal %+v, want one because of the timestamp", refusal)
	}
}

func TestRotation(t *testing.T) {
	secrets := file(t, keyOne)
	g := start(t, Config{WebhookFiles: []string{secrets}})
	third := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another key of enough bytes"))
	old := webhookHeader(t, keyOne, "msg_1", "1800000000", body)
	next := webhookHeader(t, keyTwo, "msg_1", "1800000000", body)
	neither := webhookHeader(t, third, "msg_1", "1800000000", body)
	both := slices.Clone(next)
	both[5] += " " + old[5]
	expect := func(when string, ofOld, ofNext, ofBoth Cause) {
		t.Helper()
		g.want(when+": signed with the old key", ofOld, body, old...)
		g.want(when+": signed with the new key", ofNext, body, next...)
		g.want(when+": signed with both", ofBoth, body, both...)
		g.want(when+": signed with neither", CauseSignature, body, neither...)
	}
	expect("before", "", CauseSignature, "")
	write(t, secrets, "# the new one first\n"+keyTwo+"\n\n"+keyOne+"\n")
	g.set(g.now().Add(reread.Every))
	expect("during", "", "", "")
	write(t, secrets, keyTwo)
	g.set(g.now().Add(reread.Every))
	expect("after", CauseSignature, "", "")
}
