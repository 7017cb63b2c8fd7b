package auth

import (
	"encoding/base64"
	"fmt"
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
	g.want("no version", CauseSignature, body, with(webhookSignature, signature[3:])...)
	g.want("another version", CauseSignature, body, with(webhookSignature, "v1a"+signature[2:])...)
	g.want("a right one after many wrong ones", CauseSignature, body, with(webhookSignature, many+signature)...)
	g.want("a right one after wrong ones", "", body, with(webhookSignature, "v1a,abc v2 v1,!! "+many[:100]+" "+signature)...)
	g.want("the header twice", CauseSignature, body, append(slices.Clone(right), webhookSignature, signature)...)
	g.want("the id twice", CauseSignature, body, append(slices.Clone(right), webhookID, "msg_2")...)
	g.want("the timestamp twice", CauseSignature, body, append(slices.Clone(right), webhookTimestamp, "1800000000")...)
	for i := 0; i < len(right); i += 2 {
		g.want("no "+right[i], CauseSignature, body, slices.Delete(slices.Clone(right), i, i+2)...)
	}
	// Validly signed, but not acceptable.
	for _, id := range []string{"", "a.1800000000", "a b", "ä", longest + "x"} {
		g.want(fmt.Sprintf("the id %q", id), CauseSignature, body, webhookHeader(t, keyOne, id, "1800000000", body)...)
	}
	g.want("a long id", "", body, webhookHeader(t, keyOne, longest, "1800000000", body)...)
	for _, timestamp := range []string{"", "+1800000000", "01800000000", "1800000000.0", "1.8e9", "18000000000000000000000", "0x6b49d200", "now"} {
		g.want(fmt.Sprintf("the timestamp %q", timestamp), CauseSignature, body, webhookHeader(t, keyOne, "msg_1", timestamp, body)...)
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
