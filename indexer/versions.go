package indexer

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/report"
)

// indexed is what the index has of a document.
type indexed struct {
	found   bool
	version report.Version
}

// versionsOf asks what an index has of ids, and puts it into have once that is
// certain. The index is asked itself, not a search: it tells of every write that
// Elasticsearch has answered.
func versionsOf(index string, ids []report.ID, have *map[report.ID]indexed) (question, error) {
	body, err := json.Marshal(map[string][]report.ID{"ids": ids})
	if err != nil {
		return question{}, err
	}
	return question{
		request: func() esapi.Request {
			return esapi.MgetRequest{
				Index: index, Body: bytes.NewReader(body), Source: []string{"false"},
				FilterPath: []string{"docs._id", "docs._version", "docs.found", "docs.error.type", "docs.error.reason", "error.type", "error.reason"},
			}
		},
		read: func(text []byte) (a answer, ok bool) {
			*have, a, ok = foundDocuments(text, ids)
			return a, ok
		},
	}, nil
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
