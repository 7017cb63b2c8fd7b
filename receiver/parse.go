package receiver

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"riskdex/receiver/jsonscan"
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
	places  []int     // of the changes in a POST
	refused refusals  // records that are no change, with what is known from the body
	ownID   report.ID // that the record of a PUT states
}

// parse makes changes of a body that was read to its end. The problem is
// why nothing in it can be told apart at all; refused records are in the
// contents, next to changes or alone. grow takes memory for what is made of the body.
func (r *Receiver) parse(c call, body []byte, grow func(int64) error) (contents, *problem) {
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
	if err := grow(memberMemory * int64(min(bytes.Count(body, []byte(",")), jsonscan.MaxMembers))); err != nil {
		return contents{}, noMemory(err)
	}
	if err := jsonscan.Check(body); err != nil {
		return contents{}, newProblem(http.StatusBadRequest, reasonJSON,
			"The body is not JSON that Elasticsearch would take: "+err.Error()+".")
	}
	body = jsonscan.TrimSpace(body)
	if c.method == http.MethodPut {
		return r.document(c, body)
	}
	return r.records(c, body, grow)
}

// What is made of a body takes memory beside it, many times its size where it holds
// little else than brackets. These are about what was measured.
const (
	recordMemory  = 512 // bytes for each record that is accepted, here and in the journal
	memberMemory  = 128 // for each member of the object that is looked at
	recordsAtOnce = 64  // for so many records, memory is taken at a time
)

// unbounded is for bodies that come one at a time, from an operator.
func unbounded(int64) error { return nil }

// maxRecords is how many records one payload may hold. A snapshot of everything
// has some hundreds; each takes memory and a row beside its bytes.
const maxRecords = 100_000

// records takes one record, an array of records, or either in an envelope. A list that is
// empty is no mistake: a snapshot is so on a day on which there is nothing.
func (r *Receiver) records(c call, body []byte, grow func(int64) error) (contents, *problem) {
	s := r.splitters[c.kind]
	var in contents
	var found *survey // of what has no id at the usual pointers; nil where all have
	n := 0
	for record := range s.list(body) {
		if n++; n > maxRecords {
			continue // only counted
		}
		if found == nil && s.guess != nil && jsonscan.FirstByte(record.raw) == '{' && !s.hasOwnID(record) {
			if found = s.survey(body); found.unclear() {
				return contents{}, newProblem(http.StatusUnprocessableEntity, reasonNoID,
					"No record states an id where riskdex looks for one, so nothing of this delivery was accepted. "+found.says(c.kind))
			}
		}
		change, refusal := s.change(record, found)
		if refusal == nil {
			if len(in.changes)%recordsAtOnce == 0 {
				if err := grow(recordsAtOnce * recordMemory); err != nil {
					return contents{}, noMemory(err)
				}
			}
			in.changes, in.places = append(in.changes, change), append(in.places, n-1)
			continue
		}
		refusal.Position = n - 1
		in.refused.add(*refusal)
	}
	if n > maxRecords {
		return contents{}, newProblem(http.StatusRequestEntityTooLarge, reasonTooMany,
			fmt.Sprintf("The payload holds %d records, where at most %d may come at once. Send it in parts.", n, maxRecords))
	}
	if n == 1 && in.refused.total == 1 {
		in.refused.first[0].Detail += s.listHint(in.refused.first[0].Body)
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
	record, missing := s.one(body)
	if missing != "" {
		return contents{}, newProblem(http.StatusUnprocessableEntity, reasonNoRecord, "In the place of the record is "+ended(missing)+
			" A record is an object with members; this would leave nothing of the document. To remove it, send DELETE.")
	}
	change := report.Change{Key: report.Key{Kind: c.kind, ID: id}, Op: report.Index, Body: record.raw}
	change.Code, change.NoCode = s.codeIn(record)
	if c.kind == report.Cities { // others have no name but the path
		change.OwnID = s.ownID(record)
	}
	return contents{changes: []report.Change{change}, ownID: s.ownID(record)}, nil
}

// change makes a change of one record of a POST, or says why it cannot. It is for the id
// that it states. One that states none goes by its code, as by a path.
func (s *splitter) change(r record, found *survey) (report.Change, *report.Refusal) {
	if jsonscan.FirstByte(r.raw) != '{' {
		return report.Change{}, &report.Refusal{Reason: reasonNoRecord, Body: r.raw,
			Detail: "In the place of the record is " + ended(whyNoRecord(r.raw)) + " A record is an object with an id."}
	}
	own, stated, doubt := s.identify(r, found)
	if !stated {
		return report.Change{}, &report.Refusal{Reason: reasonNoID, Body: r.raw, Detail: s.noID + doubt}
	}
	id, err := report.ParseID(own)
	switch {
	case errors.Is(err, report.ErrIDNotUTF8):
		return report.Change{}, &report.Refusal{ID: strings.ToValidUTF8(own, "\ufffd"), Reason: idReason(err), Body: r.raw,
			Detail: `The id holds half of a surrogate pair, such as "\ud800" alone, which is no text: Elasticsearch would not take it.`}
	case err != nil:
		return report.Change{}, &report.Refusal{ID: own, Reason: idReason(err), Body: r.raw, Detail: sentence(err)}
	}
	change := report.Change{Key: report.Key{Kind: s.kind, ID: id}, Op: report.Index, Body: r.raw}
	change.Code, change.NoCode = s.codeIn(r)
	if s.kind == report.Cities {
		change.OwnID = s.ownID(r) // it is id, unless that is the code
	}
	return change, nil
}

// noneAccepted is the answer to a POST all of whose records are refused.
func noneAccepted(list refusals) *problem {
	first := list.first[0]
	detail := first.Detail
	if list.total > 1 {
		detail = fmt.Sprintf("None of the %d records in the payload could be accepted. The first: %s", list.total, detail)
	}
	status := http.StatusUnprocessableEntity
	if list.counts[reasonAmbiguous] == list.total {
		status = http.StatusConflict
	}
	p := newProblem(status, first.Reason, detail)
	if first.Position >= 0 { // it is one of records, and not all of the delivery
		p.Refused, p.RefusedTotal = list.listed(), list.total
	}
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
