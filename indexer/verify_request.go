package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/cenkalti/backoff/v4"
	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/report"
)

// indexed is what the index has of a document.
type indexed struct {
	found   bool
	version report.Version
}

// verifyRequest is a request to Elasticsearch that does no harm when it is repeated.
type verifyRequest struct {
	doing string // for people
	items int    // that the answer may have
	send  func(context.Context) (*esapi.Response, error)
	// read takes the body of a success. It returns false, and why, when that
	// leaves anything open.
	read func(text []byte) (answer, bool)
}

// ask sends a request, again and again while it fails for reasons that pass.
func (r *verification) ask(ctx context.Context, q verifyRequest) error {
	return backoff.Retry(func() error {
		a, ok := q.attempt(ctx)
		if ok {
			return nil
		}
		if ctx.Err() != nil {
			return backoff.Permanent(ctx.Err())
		}
		j := classify(a)
		err := &VerifyError{Index: r.alias, Doing: q.doing, Reason: j.reason, Detail: a.detail, status: a.status}
		if j.verdict != retry {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.WithContext(r.newBackOff(r.cfg.Patience), ctx))
}

func (q verifyRequest) attempt(ctx context.Context) (answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	res, err := q.send(ctx)
	if err != nil {
		return answer{level: transport, detail: err.Error()}, false
	}
	defer res.Body.Close()
	// An id has up to 512 bytes, each of up to six characters in JSON.
	text, err := io.ReadAll(io.LimitReader(res.Body, int64(1<<20+q.items*4<<10)))
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

// look asks the index for the versions of documents. It sees every write that
// Elasticsearch has answered, whether or not a search would show it already.
func (r *verification) look(ctx context.Context, ids []report.ID) (map[report.ID]indexed, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	body, err := json.Marshal(map[string][]report.ID{"ids": ids})
	if err != nil {
		return nil, err
	}
	var have map[report.ID]indexed
	return have, r.ask(ctx, verifyRequest{
		doing: fmt.Sprintf("asking for %d documents", len(ids)),
		items: len(ids),
		send: func(ctx context.Context) (*esapi.Response, error) {
			return esapi.MgetRequest{
				Index: r.alias, Body: bytes.NewReader(body), Source: []string{"false"},
				FilterPath: []string{"docs._id", "docs._version", "docs.found", "docs.error.type", "docs.error.reason", "error.type", "error.reason"},
			}.Do(ctx, r.client)
		},
		read: func(text []byte) (a answer, ok bool) {
			have, a, ok = foundDocuments(text, ids)
			return a, ok
		},
	})
}

// foundDocuments reads the answer for each of ids, by position. Only a clear
// word that a document is not there counts as that.
func foundDocuments(text []byte, ids []report.ID) (map[report.ID]indexed, answer, bool) {
	var body struct {
		Docs []struct {
			ID      report.ID      `json:"_id"`
			Found   *bool          `json:"found"`
			Version report.Version `json:"_version"`
			Error   *esError       `json:"error"`
		} `json:"docs"`
	}
	fail := func(a answer, _ bool) (map[report.ID]indexed, answer, bool) { return nil, a, false }
	if err := json.Unmarshal(text, &body); err != nil {
		return fail(unreadable("the answer for %d documents cannot be read: %v", len(ids), err))
	}
	if len(body.Docs) != len(ids) {
		return fail(unreadable("the answer for %d documents has %d", len(ids), len(body.Docs)))
	}
	have := make(map[report.ID]indexed, len(ids))
	for i, d := range body.Docs {
		switch {
		case d.ID != ids[i]:
			return fail(unreadable("document %d of the answer is not the one that was asked for", i))
		case d.Error != nil:
			return nil, documentTrouble(*d.Error), false
		case d.Found == nil || *d.Found != (d.Version > 0):
			return fail(unreadable("the answer does not say whether document %d is there", i))
		}
		have[d.ID] = indexed{*d.Found, d.Version}
	}
	return have, answer{}, true
}

// documentTrouble is what an error in place of a document means for the request.
// It comes without a status; this one type means that asking again is of no use,
// such as for an alias of several indices.
func documentTrouble(e esError) answer {
	a := answer{level: item, errorType: e.Type, detail: e.Reason}
	if e.Type == "illegal_argument_exception" {
		a.level, a.status = request, http.StatusBadRequest
	}
	return a
}
