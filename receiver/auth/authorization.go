package auth

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// authorization is a method that reads the header Authorization: bearer tokens
// (RFC 6750) or basic credentials (RFC 7617).
type authorization struct {
	*secrets[[]byte]
	scheme string
	decode func(parameter string) (shown []byte, ok bool)
}

func (a *authorization) check(r *http.Request, _ time.Time) fault {
	list, err := a.get()
	if err != nil {
		return fault{cause: CauseClosed}
	}
	parameter, ok := authorizationOf(r.Header, a.scheme)
	if !ok {
		return lacks("Authorization is missing with %s, or is there more than once.", a.scheme)
	}
	shown, ok := a.decode(parameter)
	if !ok || !isOneOf(list, shown) {
		return fault{cause: CauseCredentials}
	}
	return fault{}
}

// maxAuthorizations is how many Authorization headers a request may have. One is usual; where
// a token and credentials are both required, there are two.
const maxAuthorizations = 4

// authorizationOf returns what follows the scheme in Authorization. Two of one scheme count
// as none: a proxy might have checked the other one.
func authorizationOf(h http.Header, scheme string) (parameter string, ok bool) {
	values := h.Values("Authorization")
	if len(values) > maxAuthorizations {
		return "", false
	}
	found := 0
	for _, value := range values {
		name, rest, _ := strings.Cut(value, " ")
		if strings.EqualFold(name, scheme) {
			parameter = strings.Trim(rest, " ")
			found++
		}
	}
	return parameter, found == 1 && parameter != ""
}

func bearerShown(parameter string) ([]byte, bool) { return []byte(parameter), true }

// basicShown returns the user, a colon and the password.
func basicShown(parameter string) ([]byte, bool) {
	return decode64(parameter)
}

// decode64 accepts only padded base64, as RFC 4648 section 3.3 requires; Go's decoder alone
// ignores line breaks.
func decode64(text string) ([]byte, bool) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	return decoded, err == nil
}
