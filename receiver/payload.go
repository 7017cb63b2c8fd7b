package receiver

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"riskdex/report"
)

// call is which of the nine calls a delivery makes, and on what.
type call struct {
	kind   report.Kind
	method string
	pathID string // decoded; empty for POST
}

// contents is what the body of a delivery comes to.
type contents struct {
	changes []report.Change
	refused []report.Refusal // records that are no change, with what is known from the body
}

// understand makes changes of a body that was read to its end. The problem is
// why nothing in it can be told apart at all; refused records are in the
// contents, next to changes or alone.
func (r *Receiver) understand(c call, body []byte) (contents, *problem) {
	if c.method == http.MethodDelete {
		id, p := pathID(c.pathID)
		if p != nil {
			return contents{}, p
		}
		return contents{changes: []report.Change{{Key: report.Key{Kind: c.kind, ID: id}, Op: report.Delete}}}, nil
	}
	// RFC 8259 allows a parser to ignore a byte order mark. Elasticsearch would
	// not, and some senders write one.
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if err := checkJSON(body); err != nil {
		return contents{}, newProblem(http.StatusBadRequest, reasonJSON,
			"The body is not JSON that Elasticsearch would take: "+err.Error()+".")
	}
	body = trimSpace(body)
	if c.method == http.MethodPut {
		return r.document(c, body)
	}
	return r.records(c, body)
}

// maxRecords is how many records one payload may hold. A snapshot of everything
// has some hundreds; each takes memory and a row beside its bytes.
const maxRecords = 100_000

// records takes one record, an array of records, or either in an envelope.
func (r *Receiver) records(c call, body []byte) (contents, *problem) {
	s := r.splitters[c.kind]
	var in contents
	n := 0
	for record := range s.list(body) {
		if n++; n > maxRecords {
			continue // only counted
		}
		change, refusal := s.change(record)
		if refusal == nil {
			in.changes = append(in.changes, change)
			continue
		}
		refusal.Position = n - 1
		in.refused = append(in.refused, *refusal)
	}
	switch {
	case n == 0:
		return contents{}, newProblem(http.StatusUnprocessableEntity, reasonNoRecord, "The payload holds no record.")
	case n > maxRecords:
		return contents{}, newProblem(http.StatusRequestEntityTooLarge, reasonTooMany,
			fmt.Sprintf("The payload holds %d records, where at most %d may come at once. Send it in parts.", n, maxRecords))
	}
	return in, nil
}

// document takes the new body of the one document that the path names.
func (r *Receiver) document(c call, body []byte) (contents, *problem) {
	id, p := pathID(c.pathID)
	if p != nil {
		return contents{}, p
	}
	s := r.splitters[c.kind]
	record := s.one(body)
	if firstByte(record.raw) == 'n' {
		return contents{}, newProblem(http.StatusUnprocessableEntity, reasonNoRecord,
			"The record in the payload is null, which says nothing about the document. To remove it, send DELETE.")
	}
	change := report.Change{
		Key: report.Key{Kind: c.kind, ID: id}, Op: report.Index, Code: s.codeIn(record), Body: record.raw,
	}
	if own, stated := s.idIn(record); stated && change.Code != "" && strings.EqualFold(change.Code, c.pathID) {
		// The path names the city by its code; if that is not an id, then the
		// body's is.
		if ownID, err := report.ParseID(own); err == nil && ownID != id {
			change.OwnID = ownID
		}
	}
	return contents{changes: []report.Change{change}}, nil
}

// change makes a change of one record of a POST, or says why it cannot. An id that
// is not the record's code is never read as the code of another city, whether the
// record states a code or none: two records of one payload would become one, and
// which of them is lost would hang on their order. A city that is there twice can be
// seen and removed. An id that is the code as well may be either, as a path may.
func (s *splitter) change(r record) (report.Change, *report.Refusal) {
	own, stated := s.idIn(r)
	if !stated {
		return report.Change{}, &report.Refusal{Reason: reasonNoID, Body: r.raw,
			Detail: "The record has no id: it is no object, or holds no " + s.idPlaces() + "."}
	}
	id, err := report.ParseID(own)
	if err != nil {
		return report.Change{}, &report.Refusal{ID: own, Reason: idReason(err), Body: r.raw, Detail: sentence(err)}
	}
	code := s.codeIn(r)
	return report.Change{
		Key: report.Key{Kind: s.kind, ID: id}, Op: report.Index, Code: code, ByID: !strings.EqualFold(code, own), Body: r.raw,
	}, nil
}

// noneAccepted is the answer to a POST all of whose records are refused.
func noneAccepted(answers []refused) *problem {
	detail := answers[0].Detail
	if len(answers) > 1 {
		detail = fmt.Sprintf("None of the %d records in the payload could be accepted. The first: %s", len(answers), detail)
	}
	p := newProblem(http.StatusUnprocessableEntity, answers[0].Reason, detail)
	p.Refused = answers
	return p
}

func pathID(text string) (report.ID, *problem) {
	id, err := report.ParseID(text)
	if err != nil {
		return "", newProblem(http.StatusUnprocessableEntity, idReason(err), sentence(err))
	}
	return id, nil
}

func idReason(err error) string {
	if errors.Is(err, report.ErrIDTooLong) {
		return reasonIDTooLong
	}
	return reasonIDInvalid
}
