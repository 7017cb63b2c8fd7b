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

// identity is what Elasticsearch gives an index, and nobody can set. One that is
// restored or copied has another uuid than the one that it was made from. One that
// is restored over itself, while it is closed, keeps its uuid, and gets a
// history of its own.
//
// riskdex notes the identity of an index in its mapping, which goes along wherever
// the index goes. So an index that bears the mark of another does not hold what
// riskdex has written to it.
type identity struct {
	UUID    string `json:"uuid,omitzero"`
	History struct {
		UUID string `json:"uuid,omitzero"`
	} `json:"history,omitzero"`
}

// mark notes in an index that it is the one of which s tells, and which line of journals
// fills it. Should it be another by now, the mark is wrong for that.
func (x *Indices) mark(ctx context.Context, s state, index string) error {
	i, ok := s.indices[index]
	if !ok {
		return &elastic.ResponseError{Status: http.StatusNotFound, Type: indexMissing, Reason: "the index " + index + " is gone again"}
	}
	n := i.Mappings.Meta.notes()
	want := n
	want.identity, want.Line = i.Settings.Index, cmp.Or(x.Line, n.Line)
	if n.identity == want.identity && n.Line == want.Line {
		return nil
	}
	n = want
	noted, err := i.Mappings.Meta.with(n) // it is replaced as a whole
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]meta{"_meta": noted})
	if err != nil {
		return err
	}
	_, err = x.Client.Ask(ctx, esapi.IndicesPutMappingRequest{Index: []string{index}, Body: bytes.NewReader(body)})
	if err != nil {
		return fmt.Errorf("marking the index %s, in its mapping: %w", index, err)
	}
	return nil
}

// trust remembers an index that is filled, and marks it if it has no mark: an older
// riskdex has made it, or a process that did not come to marking it. Such an index is
// used even where Elasticsearch refuses that, because it is read-only or for want of
// privileges. It is tried again at every look, and told of at the first.
//
// Two journals may both find that an index says of no line. The one that marks it last
// has it, so each uses it only when its next look finds its own line.
func (x *Indices) trust(ctx context.Context, kind report.Kind, s state, index string) error {
	err := x.mark(ctx, s, index)
	if err != nil && !isRefused(err) {
		return err
	}
	if err == nil && x.Line != "" && s.line(index) == "" {
		return fmt.Errorf("%w: the index %s was marked just now", report.ErrUndecided, index)
	}
	if first := x.remember(kind, s.indices[index].Settings.Index); first && err != nil {
		x.Log.WarnContext(ctx, "the index cannot be marked: it would not be noticed if it were restored while riskdex is stopped, or filled from another journal",
			"index", index, "error", err)
	}
	return nil
}

func isRefused(err error) bool {
	response, ok := errors.AsType[*elastic.ResponseError](err)
	return ok && (response.Status == http.StatusForbidden || response.Type == "cluster_block_exception")
}
