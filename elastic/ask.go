package elastic

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// RequestTimeout bounds how long a request may take.
const RequestTimeout = 60 * time.Second

// ResponseError is an answer of Elasticsearch other than 200.
type ResponseError struct {
	Status int    // of HTTP; 0 if the error is about one document of a successful answer
	Type   string // such as index_not_found_exception; empty if the answer has none
	Reason string // for people
	Index  string // that it is about, if the answer says so
}

func (e *ResponseError) Error() string {
	switch {
	case e.Status == 0:
		return fmt.Sprintf("Elasticsearch answered %s: %s", e.Type, e.Reason)
	case e.Type == "":
		return fmt.Sprintf("Elasticsearch answered %d: %s", e.Status, e.Reason)
	}
	return fmt.Sprintf("Elasticsearch answered %d %s: %s", e.Status, e.Type, e.Reason)
}

// ErrorCause is Elasticsearch's description of an error.
type ErrorCause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
	Index  string `json:"index"`

	FailedShards []struct {
		Reason ErrorCause `json:"reason"`
	} `json:"failed_shards"`
	CausedBy  *ErrorCause  `json:"caused_by"`
	RootCause []ErrorCause `json:"root_cause"`
}

// Innermost returns the cause that no other one has caused. What wraps it says which phase failed, or
// that shards did. The index is that of the innermost cause that names one.
func (c ErrorCause) Innermost() ErrorCause {
	var inner ErrorCause
	switch {
	case len(c.FailedShards) > 0:
		inner = c.FailedShards[0].Reason.Innermost()
	case c.CausedBy != nil:
		inner = c.CausedBy.Innermost()
	case len(c.RootCause) > 0:
		inner = c.RootCause[0].Innermost()
	}
	if inner.Reason == "" {
		return ErrorCause{Type: c.Type, Reason: c.Reason, Index: c.Index}
	}
	inner.Index = cmp.Or(inner.Index, c.Index)
	return inner
}

// maxAnswer is the largest answer that is read, in bytes. A bulk of 10,000 items that all
// fail, or a page of as many ids, takes less.
const maxAnswer = 64 << 20

// Ask sends a request and returns the body of the answer. It takes RequestTimeout at most.
// An answer other than 200 is a *ResponseError, and one that does not keep the rule an
// *UnclearError. After any other error it is unknown whether Elasticsearch executed the request.
func (c *Client) Ask(ctx context.Context, request esapi.Request, rule Rule) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	response, err := request.Do(ctx, c)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.unreachable(fmt.Errorf("the answer (status %d) broke off: %w", response.StatusCode, err))
	case response.StatusCode != http.StatusOK:
		return nil, NewResponseError(response.StatusCode, body)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return body, rule.keep(body)
}

// Request is a request that esapi has no type for.
type Request struct {
	Method, Path string // the path with its query
	Body         []byte // JSON, or nothing

	// Seen, if not nil, is called with the response before its body is read, to inspect
	// headers and TLS.
	Seen func(*http.Response)
}

// Do implements [esapi.Request].
func (r Request) Do(ctx context.Context, transport esapi.Transport) (*esapi.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := transport.Perform(request)
	if err != nil {
		return nil, err
	}
	if r.Seen != nil {
		r.Seen(response)
	}
	return &esapi.Response{StatusCode: response.StatusCode, Header: response.Header, Body: response.Body}, nil
}

// NewResponseError parses an answer. Elasticsearch's errors are an object or a string; the
// answer of a proxy may be neither.
func NewResponseError(status int, body []byte) *ResponseError {
	const most = 300
	e := &ResponseError{Status: status, Reason: string(body[:min(len(body), most)])}
	var answer struct {
		Error jsontext.Value `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return e
	}
	var cause ErrorCause
	var text string
	switch {
	case json.Unmarshal(answer.Error, &cause) == nil:
		cause = cause.Innermost()
		e.Type, e.Reason, e.Index = cause.Type, cause.Reason, cause.Index
	case json.Unmarshal(answer.Error, &text) == nil:
		e.Reason = text
	}
	return e
}
