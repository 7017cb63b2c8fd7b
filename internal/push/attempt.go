package push

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The most of an answer that is read, and the longest Retry-After that is
// believed: a nonsense value must not put a push to sleep for good.
const (
	maxAnswer     = 16 << 20
	maxRetryAfter = time.Hour
)

// sender makes single attempts.
type sender struct {
	base   string
	client *http.Client
	header http.Header
	show   func(h http.Header, id string, body []byte)
	now    func() time.Time
}

// answer is the receiver's final answer to a request: of a success, or of a
// problem (RFC 9457).
type answer struct {
	status   int
	Accepted int `json:"accepted"`
	Refused  []struct {
		Position int             `json:"position"`
		ID       json.RawMessage `json:"id"`
		Reason   string          `json:"reason"`
	} `json:"refused"` // the first
	RefusedTotal int    `json:"refused_total"`
	Title        string `json:"title"`
	Detail       string `json:"detail"`
}

// retryError is why an attempt is to be repeated, and not before when.
type retryError struct {
	cause error
	after time.Duration
}

func (e *retryError) Error() string { return e.cause.Error() }
func (e *retryError) Unwrap() error { return e.cause }

// send makes one attempt of the request that has this id. A *retryError asks for another one; any other error
// would come again with every attempt.
func (s sender) send(ctx context.Context, r Request, id string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, s.base+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return answer{}, fmt.Errorf("make the request: %w", err)
	}
	for name, values := range s.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.show != nil {
		s.show(req.Header, id, r.Body)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		if isPermanent(err) {
			return answer{}, err
		}
		return answer{}, &retryError{cause: err}
	}
	defer resp.Body.Close()
	// An answer that breaks off tells nothing about the delivery; asking again does.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return answer{}, &retryError{cause: fmt.Errorf("read the answer: %w", err)}
	}
	a := readAnswer(resp, body)
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		cause := fmt.Errorf("the receiver answered %s: %s", resp.Status, strings.TrimSpace(a.Title+" "+a.Detail))
		return a, &retryError{cause: cause, after: retryAfter(resp.Header.Get("Retry-After"), s.now())}
	}
	if a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
		return a, &DeniedError{Status: a.status, Detail: a.Detail}
	}
	return a, nil
}

// DeniedError is a receiver's answer 401 or 403: it does not take this sender for the
// publisher, and so would answer every other request alike.
type DeniedError struct {
	Status int
	Detail string // what the receiver says is missing
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("the receiver answered %d %s: %s", e.Status, http.StatusText(e.Status), e.Detail)
}

// isPermanent tells whether an attempt that got no answer would fail in the same way
// for as long as nobody changes the URL or whom it trusts.
func isPermanent(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	return errors.As(err, &untrusted) || errors.As(err, &noTLS) || errors.Is(err, http.ErrSchemeMismatch)
}

// readAnswer takes what it can from the body. Success is in the status alone,
// so a success with another body counts no documents; a failure with another
// body shows its beginning.
func readAnswer(resp *http.Response, body []byte) answer {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		a = answer{}
	}
	a.status = resp.StatusCode
	if a.Title == "" {
		a.Title = http.StatusText(a.status)
	}
	if a.Detail == "" && (a.status < 200 || a.status > 299) {
		a.Detail = strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), 500)]), ""))
	}
	return a
}

// retryAfter reads the header's seconds or date; without a sense it is 0.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// asText is a JSON id as text: of a string what it says, of null nothing, and
// of anything else its JSON.
func asText(id json.RawMessage) string {
	var s string
	if err := json.Unmarshal(id, &s); err == nil {
		return s
	}
	return string(id)
}
