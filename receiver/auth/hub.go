package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

const (
	hubSignature = "X-Hub-Signature-256"
	hubPrefix    = "sha256="
)

// hub is the method of X-Hub-Signature-256: HMAC-SHA256 over the body alone. It does not
// prevent replays, and for a DELETE, which has no body, it proves no more than a bearer token.
type hub struct{ *secrets[[]byte] }

func (m *hub) check(r *http.Request, _ time.Time) Cause {
	if m.ready() != nil {
		return CauseClosed
	}
	if _, ok := hubSignatureOf(r.Header); !ok {
		return CauseSignature
	}
	return ""
}

func (m *hub) verify(r *http.Request, body []byte, _ time.Time) (id string, cause Cause) {
	keys, err := m.get()
	if err != nil {
		return "", CauseClosed
	}
	signature, right := hubSignatureOf(r.Header)
	if !right {
		return "", CauseSignature
	}
	right = false
	for _, key := range keys {
		right = hmac.Equal(signHub(key, body), signature) || right
	}
	if !right {
		return "", CauseSignature
	}
	return "", ""
}

func hubSignatureOf(h http.Header) (signature []byte, ok bool) {
	value, ok := only(h, hubSignature)
	encoded, prefixed := strings.CutPrefix(value, hubPrefix)
	if !ok || !prefixed || len(encoded) != hex.EncodedLen(sha256.Size) {
		return nil, false
	}
	signature, err := hex.DecodeString(encoded)
	return signature, err == nil
}

func signHub(key, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return mac.Sum(nil)
}
