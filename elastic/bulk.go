package elastic

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"riskdex/report"
)

// Sent is a write of a bulk.
type Sent struct {
	Op      report.Op
	ID      report.ID
	Version report.Version
}

// BulkFilter is the part of the answer to a bulk that ReadBulk needs.
var BulkFilter = []string{
	"items.*._index", "items.*._id", "items.*._version", "items.*.result", "items.*._shards", "items.*.status",
	"items.*.error", "error", "status",
}

// item is the answer to one write.
type item struct {
	Index   string         `json:"_index"`
	ID      report.ID      `json:"_id"`
	Version report.Version `json:"_version"`
	Result  string         `json:"result"`
	Shards  *shards        `json:"_shards"`
	Status  int            `json:"status"`
	Error   *ErrorCause    `json:"error"`
}

// ReadBulk reads the answer to a bulk that was sent to an index, as the Rule of the request. It
// returns the answer to each write, in order. A write is done only if its answer says what was
// done, to which document, and where. If the items do not match the writes one to one, it returns
// an error: nothing is certain about any of them then.
func ReadBulk(text []byte, index string, sent []Sent) ([]Answer, error) {
	var body struct {
		Items []map[report.Op]item `json:"items"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, fmt.Errorf("unreadable: %w", err)
	}
	if len(body.Items) != len(sent) {
		return nil, fmt.Errorf("%d items for a bulk of %d", len(body.Items), len(sent))
	}
	answers := make([]Answer, len(sent))
	for i, w := range sent {
		got, ok := body.Items[i][w.Op]
		if !ok || got.ID != w.ID {
			return nil, fmt.Errorf("item %d is not for the document that was sent there", i)
		}
		answers[i] = Answer{Level: LevelItem, Status: got.Status, Op: w.Op}
		if got.Error != nil {
			answers[i].ErrorType, answers[i].Detail = got.Error.Type, got.Error.Reason // of the field
			if inner := got.Error.Innermost().Reason; !strings.Contains(got.Error.Reason, inner) {
				answers[i].Detail += ": " + inner
			}
		}
		if lacks := got.lacks(w, index); lacks != nil {
			unclear := &UnclearError{lacks}
			answers[i] = Answer{Level: LevelUnclear, Status: got.Status, Op: w.Op, Detail: unclear.Error()}
		}
	}
	return answers, nil
}

// lacks returns what keeps the answer to a write from counting.
func (t item) lacks(w Sent, index string) error {
	switch {
	case t.Index != index:
		return fmt.Errorf("about the index %q instead of %q", t.Index, index)
	case t.Error != nil && (t.Status < http.StatusBadRequest || t.Error.Type == VersionConflict && t.Status != http.StatusConflict):
		return fmt.Errorf("the error %q has the status %d", t.Error.Type, t.Status)
	case t.Error != nil:
		return nil
	case t.Status == 0 || results[w.Op][t.Result] != t.Status:
		return fmt.Errorf("the result of the operation %q is %q, with the status %d", w.Op, t.Result, t.Status)
	case t.Version != 0 && t.Version != w.Version:
		return fmt.Errorf("about version %d instead of %d", t.Version, w.Version)
	}
	if err := t.Shards.taken(); err != nil {
		return errors.New("of its shards: " + err.Error())
	}
	return nil
}

// results are the results of an operation that was done, with their statuses. A document that is
// to be deleted may be gone already.
var results = map[report.Op]map[string]int{
	report.Index:  {"created": http.StatusCreated, "updated": http.StatusOK},
	report.Delete: {"deleted": http.StatusOK, "not_found": http.StatusNotFound},
}
