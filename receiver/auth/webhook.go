package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of the Standard Webhooks specification, version 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks).
const (
	webhookID        = "Webhook-" + partID
	webhookTimestamp = "Webhook-" + partTimestamp
	webhookSignature = "Webhook-" + partSignature

	partID, partTimestamp, partSignature = "Id", "Timestamp", "Signature"

	webhookVersion = "v1," // of HMAC-SHA256; others are ignored
)

// webhookPrefixes are what the names of the three headers begin with: Svix, which began them, has
// its own.
func webhookPrefixes() []string { return []string{"Webhook-", "Svix-"} }

// Tolerance is how far the timestamp of a signature may be from our clock, before or after.
const Tolerance = 5 * time.Minute

const (
	maxWebhookID  = 256 // bytes
	maxSignatures = 16  // of one delivery
)

// webhook is the method of the Standard Webhooks specification: HMAC-SHA256 over
// the id, the timestamp and the body.
type webhook struct{ *secrets[[]byte] }

// signed is what the headers of a signed delivery say.
type signed struct {
	id, timestamp string
	at            time.Time
	signatures    [][]byte
}

func (m *webhook) check(r *http.Request, now time.Time) fault {
	if m.ready() != nil {
		return fault{cause: CauseClosed}
	}
	_, wrong := readSigned(r.Header, now)
	return wrong
}

func (m *webhook) verify(r *http.Request, body []byte, now time.Time) (id string, wrong fault) {
	keys, err := m.get()
	if err != nil {
		return "", fault{cause: CauseClosed}
	}
	s, wrong := readSigned(r.Header, now)
	if wrong.cause != "" {
		return "", wrong
	}
	right := false
	for _, key := range keys {
		want := sign(key, s.id, s.timestamp, body)
		for _, signature := range s.signatures {
			right = hmac.Equal(want, signature) || right
		}
	}
	if !right {
		return "", fault{cause: CauseSignature}
	}
	return s.id, fault{}
}

// readSigned parses the headers and checks the timestamp. Where there are headers with several
// prefixes, those with each are complete, and say the same: a proxy might have checked the others.
func readSigned(h http.Header, now time.Time) (s signed, wrong fault) {
	var before *[3]string
	for _, prefix := range webhookPrefixes() {
		var values [3]string
		var first fault
		there := false
		for i, part := range []string{partID, partTimestamp, partSignature} {
			there = there || len(h.Values(prefix+part)) > 0
			if values[i], wrong = only(h, prefix+part); first.cause == "" {
				first = wrong
			}
		}
		switch {
		case !there:
			continue
		case first.cause != "":
			return s, first
		case before != nil && *before != values:
			return s, lacks("The headers %s… are not as the others that sign it.", prefix)
		}
		before = &values
		if s, wrong = parseSigned(prefix, values, now); wrong.cause != "" {
			return s, wrong
		}
	}
	if before == nil {
		return s, lacks("%s, %s and %s are missing.", webhookID, webhookTimestamp, webhookSignature)
	}
	return s, fault{}
}

// parseSigned parses the id, the timestamp and the signatures.
func parseSigned(prefix string, values [3]string, now time.Time) (s signed, wrong fault) {
	seconds, err := strconv.ParseInt(values[1], 10, 64)
	s = signed{id: values[0], timestamp: values[1], at: time.Unix(seconds, 0), signatures: signaturesIn(values[2])}
	switch {
	case !isWebhookID(s.id):
		return s, lacks("%s%s is not 1 to %d visible ASCII characters other than a full stop.", prefix, partID, maxWebhookID)
	case err != nil || strconv.FormatInt(seconds, 10) != s.timestamp:
		return s, lacks("%s%s is not a whole number of seconds since 1970.", prefix, partTimestamp)
	case len(s.signatures) == 0:
		return s, lacks("%s%s holds no signature as %s and base64, or more than %d.", prefix, partSignature, webhookVersion, maxSignatures)
	case s.at.Before(now.Add(-Tolerance)) || s.at.After(now.Add(Tolerance)):
		return s, fault{CauseTimestamp, fmt.Sprintf("%s%s is more than 5 minutes away from the clock of riskdex, which is at %d: "+
			"sign each attempt anew, and set the clocks.", prefix, partTimestamp, now.Unix())}
	}
	return s, fault{}
}

// only returns the value of a header that appears once. Of two values, a proxy might have
// checked the other one.
func only(h http.Header, name string) (value string, wrong fault) {
	switch values := h.Values(name); len(values) {
	case 0:
		return "", lacks("%s is missing.", name)
	case 1:
		return values[0], fault{}
	}
	return "", lacks("%s is there more than once.", name)
}

// isWebhookID reports whether a text can be an id. With a full stop in it, what is signed
// could be read in two ways, and one signature would be valid for two deliveries.
func isWebhookID(id string) bool {
	for _, c := range []byte(id) {
		if !visible(c) || c == '.' {
			return false
		}
	}
	return id != "" && len(id) <= maxWebhookID
}

// signaturesIn returns the signatures of our version; none if there are too many.
func signaturesIn(list string) (found [][]byte) {
	for text := range strings.FieldsSeq(list) {
		encoded, ok := strings.CutPrefix(text, webhookVersion)
		if !ok {
			continue
		}
		signature, ok := decode64(encoded)
		if !ok {
			continue
		}
		if found = append(found, signature); len(found) > maxSignatures {
			return nil
		}
	}
	return found
}

// sign returns the HMAC of a delivery.
func sign(key []byte, id, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	return mac.Sum(nil)
}
