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

// maxAnswer is the most that is read of an answer, in bytes. maxRetryAfter is the longest
// Retry-After that is obeyed: a nonsensical value must not put a push to sleep for good.
const (
	maxAnswer     = 16 << 20
	maxRetryAfter = time.Hour
)

// sender makes single attempts to send a request.
type sender struct {
	base   string
	client *http.Client
	header http.Header
	show   func(h http.Header, id string, body []byte)
	now    func() time.Time
	there  bool // it has answered, and not only what stands before it
}

// answer is the receiver's final answer to a request: a success, or a problem (RFC 9457).
type answer struct {
	status   int
	Accepted int `json:"accepted"`
	Refused  []struct {
		Position int             `json:"position"`
		ID       json.RawMessage `json:"id"`
		Reason   string          `json:"reason"`
	} `json:"refused"` // the first ones
	RefusedTotal int    `json:"refused_total"`
	Unknown      []int  `json:"unknown"`    // positions of deletes of what was not there
	Searchable   *int   `json:"searchable"` // of those accepted; nil if the receiver did not wait
	Delivery     string `json:"delivery"`   // its name
	Title        string `json:"title"`
	Detail       string `json:"detail"`
}

// retryError says why an attempt is to be repeated, and how long to wait at least.
type retryError struct {
	cause error
	after time.Duration
}

func (e *retryError) Error() string { return e.cause.Error() }
func (e *retryError) Unwrap() error { return e.cause }

// send makes one attempt to send r, whose id is the same for all attempts. After a
// *retryError another attempt may succeed; any other error would recur with every attempt.
func (s *sender) send(ctx context.Context, r Request, id string) (answer, error) {
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
	if r.IfVersion != 0 {
		req.Header.Set("If-Match", fmt.Sprintf(`"%d"`, r.IfVersion))
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
	// An answer that breaks off says nothing about the delivery; sending it again does.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return answer{}, &retryError{cause: fmt.Errorf("read the answer: %w", err)}
	}
	a := readAnswer(resp, body)
	s.there = s.there || a.status < 500 || strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json")
	switch a.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout: // of a load balancer; the delivery may be durable, and a repeat is harmless
		cause := fmt.Errorf("the receiver answered %s: %s", resp.Status, strings.TrimSpace(a.Title+" "+a.Detail))
		return a, &retryError{cause: cause, after: retryAfter(resp.Header.Get("Retry-After"), s.now())}
	}
	if a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
		return a, &DeniedError{Status: a.status, Detail: a.Detail}
	}
	return a, nil
}

// DeniedError is a receiver's answer 401 or 403: it does not accept this sender as the
// publisher, and would answer every other request in the same way.
type DeniedError struct {
	Status int
	Detail string // what the receiver says is missing
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("the receiver answered %d %s: %s", e.Status, http.StatusText(e.Status), e.Detail)
}

// isPermanent reports whether an attempt without an answer would fail in the same way until
// somebody changes the URL or which certificates are trusted.
func isPermanent(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	return errors.As(err, &untrusted) || errors.As(err, &noTLS) || errors.Is(err, http.ErrSchemeMismatch)
}

// readAnswer takes what it can from the body. The status alone decides about success, so a
// success with an unknown body counts no documents. Of a failure with an unknown body,
// Detail is the beginning of that body.
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

// retryAfter returns the wait that the header states in seconds or as a date, or 0 if it
// makes no sense.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// asText returns a JSON id as text: the content of a string, nothing for null, and the JSON
// of anything else.
func asText(id json.RawMessage) string {
	var s string
	if err := json.Unmarshal(id, &s); err == nil {
		return s
	}
	return string(id)
}
