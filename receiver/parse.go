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

// call is one of the nine calls of the interface, and what it is for.
type call struct {
	kind   report.Kind
	method string
	pathID string // decoded; empty for POST
}

// contents is what a body is parsed into.
type contents struct {
	changes   []report.Change
	positions []int     // positions of the changes in a POST
	refused   refusals  // records that are no changes
	ownID     report.ID // stated by the record of a PUT
}

// bodyParser makes changes of bodies, by the splitter of their kind. It may be used concurrently.
type bodyParser map[report.Kind]*splitter

// parse makes changes of a body that was read to its end. A problem means that the body as a
// whole cannot be used; single records that are refused are in the contents. parse reserves
// memory for what it makes with grow.
func (p bodyParser) parse(c call, body []byte, grow func(int64) error) (contents, *problem) {
	if c.method == http.MethodDelete {
		id, wrong := pathID(c.pathID)
		if wrong != nil {
			return contents{}, wrong
		}
		return contents{changes: []report.Change{{Key: report.Key{Kind: c.kind, ID: id}, Op: report.Delete}}}, nil
	}
	// RFC 8259 allows parsers to ignore a byte order mark. Some senders write one, and
	// Elasticsearch would reject it.
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
		return p.document(c, body)
	}
	return p.records(c, body, grow)
}

// The memory that parsing takes beside the body: many times its size where it has little else
// than brackets. These are close to what was measured.
const (
	recordMemory = 560 // bytes for each record, here and in the journal
	memberMemory = 128 // for each member of the object being parsed
)

// unbounded is the grow of a command, which reads one body at a time.
func unbounded(int64) error { return nil }

// maxRecords bounds the records of one payload, each of which takes memory and a row beside
// its bytes. A snapshot of everything has some hundreds.
const maxRecords = 100_000

// records parses the body of a POST: one record, an array of records, or either in an
// envelope. An empty list is not a mistake: it is the snapshot of a day on which there is
// nothing.
func (p bodyParser) records(c call, body []byte, grow func(int64) error) (contents, *problem) {
	s := p[c.kind]
	var in contents
	var found *survey // of what has no id at the usual pointers; nil where all have
	records := s.list(body)
	total := 0
	for range records {
		total++
	}
	if total > maxRecords {
		return contents{}, newProblem(http.StatusRequestEntityTooLarge, reasonTooMany,
			fmt.Sprintf("The payload holds %d records, where at most %d may come at once. Send it in parts.", total, maxRecords))
	}
	n := 0
	for record := range records {
		n++
		if found == nil && s.guess != nil && jsonscan.FirstByte(record.raw) == '{' && !s.hasOwnID(record) {
			if found = s.surveyOf(records); found.unclear() {
				return contents{}, newProblem(http.StatusUnprocessableEntity, reasonNoID,
					"No record states an id where riskdex looks for one, so nothing of this delivery was accepted. "+found.says(c.kind))
			}
		}
		change, refusal := s.change(record, found)
		if refusal == nil {
			if record.around != nil || record.made {
				change.Body = record.kept()
				if err := grow(int64(len(change.Body))); err != nil {
					return contents{}, noMemory(err)
				}
			}
			if in.changes == nil { // the memory for all at once, so that only those who have it hold any
				if err := grow(int64(total-n+1) * recordMemory); err != nil {
					return contents{}, noMemory(err)
				}
				in.changes, in.positions = make([]report.Change, 0, total-n+1), make([]int, 0, total-n+1)
			}
			in.changes, in.positions = append(in.changes, change), append(in.positions, n-1)
			continue
		}
		refusal.Position = n - 1
		in.refused.add(*refusal)
	}
	if n == 1 && in.refused.total == 1 {
		in.refused.first[0].Detail += s.listHint(in.refused.first[0].Body)
	}
	return in, nil
}

// document parses the body of a PUT: the new record of the document that the path names.
func (p bodyParser) document(c call, body []byte) (contents, *problem) {
	id, wrong := pathID(c.pathID)
	if wrong != nil {
		return contents{}, wrong
	}
	s := p[c.kind]
	record, missing := s.one(body)
	if missing != "" {
		return contents{}, newProblem(http.StatusUnprocessableEntity, reasonNoRecord, "In the place of the record is "+ended(missing)+
			" A record is an object with members; this would leave nothing of the document. To remove it, send DELETE.")
	}
	change := report.Change{Key: report.Key{Kind: c.kind, ID: id}, Op: report.Index, Body: record.kept()}
	change.Code, change.NoCode = s.codeIn(record)
	if c.kind == report.Cities { // for others, only the path counts
		change.OwnID = s.ownID(record)
	}
	return contents{changes: []report.Change{change}, ownID: s.ownID(record)}, nil
}

// record returns the change that the PUT of a body would make. The error is a *RefusedError.
func (p bodyParser) record(key report.Key, body []byte, grow func(int64) error) (report.Change, error) {
	in, wrong := p.parse(call{kind: key.Kind, method: http.MethodPut, pathID: string(key.ID)}, body, grow)
	if wrong != nil {
		return report.Change{}, &RefusedError{wrong.Reason, wrong.Detail}
	}
	return in.changes[0], nil
}

// change returns the change that one record of a POST makes, or why it makes none. It is for
// the id that the record states, or else for its code, as if that were the path.
func (s *splitter) change(r record, found *survey) (report.Change, *report.Refusal) {
	if jsonscan.FirstByte(r.raw) != '{' {
		return report.Change{}, &report.Refusal{Reason: reasonNoRecord, Body: r.raw,
			Detail: "In the place of the record is " + ended(whyNoRecord(r.raw)) + " A record is an object with an id."}
	}
	if why := s.whyDeleted(r.members); why != "" {
		return report.Change{}, &report.Refusal{Reason: reasonNoRecord, Body: r.raw,
			Detail: "In the place of the record is " + ended(why) + " To remove it, send DELETE."}
	}
	if why := s.whyNotOpened(r); why != "" {
		return report.Change{}, &report.Refusal{Reason: reasonNoID, Body: r.raw, Detail: why}
	}
	own, stated, doubt := s.identify(r, found)
	if !stated {
		return report.Change{}, &report.Refusal{Reason: reasonNoID, Body: r.raw, Detail: s.noID + doubt}
	}
	id, err := report.ParseID(own)
	switch {
	case errors.Is(err, report.ErrIDNotUTF8):
		return report.Change{}, &report.Refusal{ID: strings.ToValidUTF8(own, "\ufffd"), Reason: idReason(err), Body: r.raw,
			Detail: `The id holds half of a surrogate pair, such as "\ud800" alone, which is not text: Elasticsearch would not take it.`}
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

// noneAccepted returns the answer to a delivery of which every record is refused.
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
