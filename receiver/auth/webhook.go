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
	webhookID        = "Webhook-Id"
	webhookTimestamp = "Webhook-Timestamp"
	webhookSignature = "Webhook-Signature"

	webhookVersion = "v1," // of HMAC-SHA256; others are ignored
)

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

func (m *webhook) check(r *http.Request, now time.Time) Cause {
	if m.ready() != nil {
		return CauseClosed
	}
	_, cause := readSigned(r.Header, now)
	return cause
}

func (m *webhook) verify(r *http.Request, body []byte, now time.Time) (id string, cause Cause) {
	keys, err := m.get()
	if err != nil {
		return "", CauseClosed
	}
	s, cause := readSigned(r.Header, now)
	if cause != "" {
		return "", cause
	}
	right := false
	for _, key := range keys {
		want := sign(key, s.id, s.timestamp, body)
		for _, signature := range s.signatures {
			right = hmac.Equal(want, signature) || right
		}
	}
	if !right {
		return "", CauseSignature
	}
	return s.id, ""
}

// readSigned parses the headers and checks the timestamp.
func readSigned(h http.Header, now time.Time) (s signed, cause Cause) {
	id, okID := only(h, webhookID)
	timestamp, okTime := only(h, webhookTimestamp)
	list, okList := only(h, webhookSignature)
	if !okID || !okTime || !okList || !isWebhookID(id) {
		return s, CauseSignature
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != timestamp {
		return s, CauseSignature
	}
	s = signed{id: id, timestamp: timestamp, at: time.Unix(seconds, 0), signatures: signaturesIn(list)}
	if len(s.signatures) == 0 {
		return s, CauseSignature
	}
	if s.at.Before(now.Add(-Tolerance)) || s.at.After(now.Add(Tolerance)) {
		return s, CauseTimestamp
	}
	return s, ""
}

// only returns the value of a header that appears once. Of two values, a proxy might have
// checked the other one.
func only(h http.Header, name string) (string, bool) {
	values := h.Values(name)
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
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
