package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/report"
)

// Indexed is the state of a document in an index.
type Indexed struct {
	Found   bool
	Version report.Version
}

// Versions returns the state of ids in an index, or in the index behind an alias. Unlike a
// search, it sees every write that Elasticsearch has answered. If the state of any of them
// is unclear, it returns an error.
func (c *Client) Versions(ctx context.Context, index string, ids []report.ID) (map[report.ID]Indexed, error) {
	return c.versions(ctx, index, ids, true)
}

// Searchable returns the state of ids as searches see it, without what was written since the last
// refresh. It does not cause a refresh. The errors are those of Versions.
func (c *Client) Searchable(ctx context.Context, index string, ids []report.ID) (map[report.ID]Indexed, error) {
	return c.versions(ctx, index, ids, false)
}

func (c *Client) versions(ctx context.Context, index string, ids []report.ID, realtime bool) (map[report.ID]Indexed, error) {
	found, err := c.mget(ctx, index, ids, realtime, "false")
	return found.have, err
}

// Shown is Searchable for one document, and returns its source, too.
func (c *Client) Shown(ctx context.Context, index string, id report.ID) (Indexed, json.RawMessage, error) {
	found, err := c.mget(ctx, index, []report.ID{id}, false, "true")
	return found.have[id], found.source, err
}

// documents are what a lookup has found.
type documents struct {
	have   map[report.ID]Indexed
	source json.RawMessage // of the last one
}

func (c *Client) mget(ctx context.Context, index string, ids []report.ID, realtime bool, source string) (found documents, err error) {
	body, err := json.Marshal(map[string][]report.ID{"ids": ids})
	if err != nil {
		return found, err
	}
	request := esapi.MgetRequest{Index: index, Body: bytes.NewReader(body), Source: []string{source}, Realtime: &realtime}
	if source == "false" { // a filter writes the numbers of a source in its own way: 1.50 as 1.5
		request.FilterPath = []string{"docs._index", "docs._id", "docs._version", "docs.found", "docs.error", "error"}
	}
	_, err = c.Ask(ctx, request, func(answer []byte) (err error) {
		found, err = readDocuments(answer, ids)
		return err
	})
	return found, err
}

// readDocuments reads the answer for each of ids, by position. A document is missing only if the
// answer says so explicitly, and all of them are of one index: an alias of several has the state
// of none.
func readDocuments(text []byte, ids []report.ID) (documents, error) {
	var body struct {
		Docs []struct {
			Index   string          `json:"_index"`
			ID      report.ID       `json:"_id"`
			Found   *bool           `json:"found"`
			Version report.Version  `json:"_version"`
			Source  json.RawMessage `json:"_source"`
			Error   *ErrorCause     `json:"error"`
		} `json:"docs"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return documents{}, fmt.Errorf("the answer for %d documents cannot be read: %w", len(ids), err)
	}
	if len(body.Docs) != len(ids) {
		return documents{}, fmt.Errorf("the answer for %d documents has %d", len(ids), len(body.Docs))
	}
	found := documents{have: make(map[report.ID]Indexed, len(ids))}
	for i, d := range body.Docs {
		switch {
		case d.ID != ids[i]: // #nosec G602 -- there are as many
			return documents{}, fmt.Errorf("document %d of the answer is not the one that was asked for", i)
		case d.Error != nil:
			return documents{}, documentTrouble(*d.Error)
		case d.Index == "" || d.Index != body.Docs[0].Index:
			return documents{}, fmt.Errorf("document %d of the answer is of the index %q, and the first one of %q", i, d.Index, body.Docs[0].Index)
		case d.Found == nil || *d.Found != (d.Version > 0):
			return documents{}, fmt.Errorf("the answer does not say whether document %d is there", i)
		}
		found.have[d.ID], found.source = Indexed{*d.Found, d.Version}, d.Source
	}
	return found, nil
}

// documentTrouble returns the error for a document in an answer, which has no status of its
// own. One type means that a retry is of no use, such as an alias of several indices.
func documentTrouble(c ErrorCause) *ResponseError {
	e := c.Innermost()
	status := 0
	if e.Type == "illegal_argument_exception" {
		status = http.StatusBadRequest
	}
	return &ResponseError{Status: status, Type: e.Type, Reason: e.Reason, Index: e.Index}
}
