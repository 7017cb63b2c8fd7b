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

func (m *hub) check(r *http.Request, _ time.Time) fault {
	if m.ready() != nil {
		return fault{cause: CauseClosed}
	}
	_, wrong := hubSignatureOf(r.Header)
	return wrong
}

func (m *hub) verify(r *http.Request, body []byte, _ time.Time) (id string, wrong fault) {
	keys, err := m.get()
	if err != nil {
		return "", fault{cause: CauseClosed}
	}
	signature, wrong := hubSignatureOf(r.Header)
	if wrong.cause != "" {
		return "", wrong
	}
	right := false
	for _, key := range keys {
		right = hmac.Equal(signHub(key, body), signature) || right
	}
	if !right {
		return "", fault{cause: CauseSignature}
	}
	return "", fault{}
}

func hubSignatureOf(h http.Header) (signature []byte, wrong fault) {
	value, wrong := only(h, hubSignature)
	if wrong.cause != "" {
		return nil, wrong
	}
	encoded, prefixed := strings.CutPrefix(value, hubPrefix)
	signature, err := hex.DecodeString(encoded)
	if !prefixed || err != nil || len(signature) != sha256.Size {
		return nil, lacks("%s is not %s and %d hexadecimal digits.", hubSignature, hubPrefix, hex.EncodedLen(sha256.Size))
	}
	return signature, fault{}
}

func signHub(key, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return mac.Sum(nil)
}
