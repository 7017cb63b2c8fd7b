package indices

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/elastic"
	"riskdex/report"
)

// identity is what Elasticsearch assigns to an index, and nobody can set. A restored or
// copied index has another uuid than the one that it was made from. An index that is
// restored over itself, while it is closed, keeps its uuid, and gets another history.
//
// riskdex records the identity of an index in its mapping, which restores and copies
// include. So an index that has the mark of another is not the one that riskdex has written
// to.
type identity struct {
	UUID    string `json:"uuid,omitzero"`
	History struct {
		UUID string `json:"uuid,omitzero"`
	} `json:"history,omitzero"`
}

// mark records in an index the identity that it has in s, and the lineage of the journal that
// fills it. If another index has its name by now, the mark does not match that one.
func (x *Indices) mark(ctx context.Context, s state, index string) error {
	i, ok := s.indices[index]
	if !ok {
		return &elastic.ResponseError{Status: http.StatusNotFound, Type: indexMissing, Reason: "the index " + index + " is gone again"}
	}
	n := i.Mappings.Meta.notes()
	want := n
	want.identity, want.Line = i.id(), cmp.Or(x.Lineage, n.Line)
	if n.identity == want.identity && n.Line == want.Line {
		return nil
	}
	return x.note(ctx, s, index, want)
}

// note writes notes into an index of s.
func (x *Indices) note(ctx context.Context, s state, index string, n notes) error {
	noted, err := s.indices[index].Mappings.Meta.with(n) // `_meta` is replaced as a whole
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]meta{"_meta": noted})
	if err != nil {
		return err
	}
	_, err = x.Client.Ask(ctx, esapi.IndicesPutMappingRequest{Index: []string{index}, Body: bytes.NewReader(body)}, elastic.Acknowledged)
	if err != nil {
		return fmt.Errorf("marking the index %s, in its mapping: %w", index, err)
	}
	return nil
}

// trust remembers an index that is filled, and marks it if it has no mark, because an older
// riskdex made it, or a process stopped before marking it. Such an index is used even if
// Elasticsearch refuses the mark because the index is read-only or privileges are missing.
// Marking is tried again at every check, and a refusal is logged at the first.
//
// Two journals may both find an index without a lineage. The one that marks it last owns it, so
// each uses it only once its next check has found its own lineage.
func (x *Indices) trust(ctx context.Context, kind report.Kind, s state, index string) error {
	err := x.mark(ctx, s, index)
	if err != nil && !isRefused(err) {
		return err
	}
	if err == nil && x.Lineage != "" && s.lineage(index) == "" {
		return fmt.Errorf("%w: the index %s was marked just now", report.ErrUndecided, index)
	}
	if first := x.remember(kind, s.indices[index].id()); first && err != nil {
		x.Log.WarnContext(ctx, "the index cannot be marked: it would not be noticed if it were restored while riskdex is stopped, or filled from another journal",
			"index", index, "error", err)
	}
	return nil
}

func isRefused(err error) bool {
	response, ok := errors.AsType[*elastic.ResponseError](err)
	return ok && (response.Status == http.StatusForbidden || response.Type == "cluster_block_exception")
}
