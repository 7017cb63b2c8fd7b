package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The least length of secrets in bytes. Shorter ones can be guessed, or come from a file that
// is being written.
const (
	minSecret   = 16
	minPassword = 8
)

const webhookPrefix = "whsec_"

func bearerToken(line string) ([]byte, error) {
	for _, c := range []byte(line) {
		if !visible(c) {
			return nil, errors.New("a bearer token is of visible ASCII characters without spaces, or it could not be sent")
		}
	}
	return longEnough([]byte(line))
}

func basicCredentials(line string) ([]byte, error) {
	user, password, ok := strings.Cut(line, ":")
	switch {
	case !ok || user == "":
		return nil, errors.New("write it as user:password")
	case len(password) < minPassword:
		return nil, fmt.Errorf("the password is shorter than %d bytes, so it can be guessed", minPassword)
	case !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl):
		return nil, errors.New("not UTF-8, or with control characters")
	}
	return []byte(line), nil
}

func webhookKey(line string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(line, webhookPrefix)
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if !ok || err != nil { // the error would quote a character of the secret
		return nil, fmt.Errorf("write it as Standard Webhooks has it, %s followed by the key in base64", webhookPrefix)
	}
	return longEnough(key)
}

func hubKey(line string) ([]byte, error) { return longEnough([]byte(line)) }

func longEnough(secret []byte) ([]byte, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("shorter than %d bytes, so it can be guessed", minSecret)
	}
	return secret, nil
}

func visible(c byte) bool { return '!' <= c && c <= '~' }

// isOneOf reports whether shown is one of the secrets. Its duration reveals neither which,
// nor how much of one was right, nor the length of any.
func isOneOf(list [][]byte, shown []byte) bool {
	digest, same := sha256.Sum256(shown), 0
	for _, secret := range list {
		want := sha256.Sum256(secret)
		same |= subtle.ConstantTimeCompare(want[:], digest[:])
	}
	return same == 1
}
