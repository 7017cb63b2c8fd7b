package indexer

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// question is a request to Elasticsearch whose answer is read with care.
type question struct {
	items int // that the answer may have
	send  func(context.Context) (*esapi.Response, error)
	// read takes the body of a success. It returns false, and why, when that
	// leaves anything open.
	read func(text []byte) (answer, bool)
}

// attempt asks once. It returns false, and why, when nothing was learnt.
func (q question) attempt(ctx context.Context) (answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	res, err := q.send(ctx)
	if err != nil {
		return answer{level: transport, detail: err.Error()}, false
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes(q.items)))
	if err != nil {
		return answer{level: transport, detail: fmt.Sprintf("the answer (status %d) broke off: %v", res.StatusCode, err)}, false
	}
	if res.StatusCode != http.StatusOK {
		return requestAnswer(res.StatusCode, text), false
	}
	return q.read(text)
}

// unreadable is an answer that says nothing for sure.
func unreadable(format string, args ...any) (answer, bool) {
	return answer{level: transport, detail: fmt.Sprintf(format, args...)}, false
}

// maxAnswerBytes bounds what is read of an answer. An id has up to 512 bytes, each
// of up to six characters in JSON; 4 KiB an item is more than that and the other
// fields asked for need.
func maxAnswerBytes(items int) int64 { return int64(1<<20 + items*4<<10) }
