package mappings

import (
	"context"
	"fmt"
	"io"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ResponseError is an answer of Elasticsearch that is no success.
type ResponseError struct {
	Status int    // of HTTP
	Type   string // such as index_not_found_exception; empty when the answer does not say
	Reason string // for people
}

func (e *ResponseError) Error() string {
	if e.Type == "" {
		return fmt.Sprintf("Elasticsearch answered %d: %s", e.Status, e.Reason)
	}
	return fmt.Sprintf("Elasticsearch answered %d %s: %s", e.Status, e.Type, e.Reason)
}

// Answer returns what Elasticsearch answered, for those who judge it without
// knowing this type.
func (e *ResponseError) Answer() (status int, errorType, reason string) {
	return e.Status, e.Type, e.Reason
}

// perform sends a request and returns the body of a success. An answer that is
// none is a *ResponseError.
func perform(ctx context.Context, client *elasticsearch.Client, request esapi.Request) ([]byte, error) {
	response, err := request.Do(ctx, client)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading Elasticsearch's answer: %w", err)
	}
	if response.IsError() {
		return nil, newResponseError(response.StatusCode, body)
	}
	return body, nil
}

// newResponseError reads the two forms that errors have: an object, or a text.
// A proxy's answer may be neither.
func newResponseError(status int, body []byte) *ResponseError {
	const most = 300
	e := &ResponseError{Status: status, Reason: string(body[:min(len(body), most)])}
	var answer struct {
		Error jsontext.Value `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return e
	}
	var cause struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	}
	var text string
	switch {
	case json.Unmarshal(answer.Error, &cause) == nil:
		e.Type, e.Reason = cause.Type, cause.Reason
	case json.Unmarshal(answer.Error, &text) == nil:
		e.Reason = text
	}
	return e
}
