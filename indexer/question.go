package indexer

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
)

// question is a request to Elasticsearch whose answer is read with care.
type question struct {
	request func() esapi.Request // for one attempt: its body is read once
	// read takes the body of a success. It returns false, and why, when that
	// leaves anything open.
	read func(text []byte) (answer, bool)
}

// attempt asks once. It returns false, and why, when nothing was learnt.
func (q question) attempt(ctx context.Context, client *elastic.Client) (answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	text, err := client.Ask(ctx, q.request())
	if refused, ok := errors.AsType[*elastic.ResponseError](err); ok {
		return requestAnswer(refused), false
	}
	if err != nil {
		return answer{level: transport, detail: err.Error()}, false
	}
	return q.read(text)
}

// requestAnswer is an answer to a request as a whole. A proxy says whatever it likes;
// the status is known all the same.
func requestAnswer(e *elastic.ResponseError) answer {
	a := answer{level: request, status: e.Status, errorType: e.Type, detail: e.Reason}
	if e.Type == "" {
		a.detail = "status " + strconv.Itoa(e.Status)
	}
	return a
}

// unreadable is an answer that says nothing for sure.
func unreadable(format string, args ...any) (answer, bool) {
	return answer{level: transport, detail: fmt.Sprintf(format, args...)}, false
}
