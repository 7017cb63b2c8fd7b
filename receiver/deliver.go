package receiver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"riskdex/report"
)

// delivery is one request on its way through the receiver.
type delivery struct {
	w      http.ResponseWriter
	req    *http.Request
	kind   report.Kind
	pathID string // decoded; empty for POST
}

// appendTimeout bounds how long a sender waits for the journal.
const appendTimeout = 30 * time.Second

// post takes one record, an array of records, or either in an envelope.
func (r *Receiver) post(d *delivery) {
	body, ok := r.readJSON(d)
	if !ok {
		return
	}
	s := r.splitters[d.kind]
	records := s.list(body)
	if len(records) == 0 {
		r.refuse(d, newProblem(http.StatusUnprocessableEntity, reasonNoRecord,
			"The payload holds no record."), body)
		return
	}
	var out report.Delivery
	var answers []refused
	for i, record := range records {
		change, refusal := r.changeFor(d, s, record)
		if refusal == nil {
			out.Changes = append(out.Changes, change)
			continue
		}
		refusal.Position = i
		answers = append(answers, r.note(d, refusal))
		out.Refusals = append(out.Refusals, *refusal)
	}
	if len(out.Changes) == 0 {
		detail := answers[0].Detail
		if len(records) > 1 {
			detail = fmt.Sprintf("None of the %d records in the payload could be accepted. The first: %s", len(records), detail)
		}
		p := newProblem(http.StatusUnprocessableEntity, answers[0].Reason, detail)
		p.Refused = answers
		r.keep(d.req.Context(), out)
		r.answer(d, p)
		return
	}
	r.accept(d, out, answers)
}

// put takes the new body of the one document that its path names.
func (r *Receiver) put(d *delivery) {
	body, ok := r.readJSON(d)
	if !ok {
		return
	}
	id, p := pathID(d.pathID)
	if p != nil {
		r.refuse(d, p, body)
		return
	}
	if string(body) == "null" {
		r.refuse(d, newProblem(http.StatusUnprocessableEntity, reasonNoRecord,
			"The payload is null, which says nothing about the document. To remove it, send DELETE."), body)
		return
	}
	s := r.splitters[d.kind]
	record := s.one(body)
	change := report.Change{
		Key: report.Key{Kind: d.kind, ID: id}, Op: report.Index, Code: s.codeIn(record), Body: record,
	}
	if own, stated := s.idIn(record); stated && change.Code != "" && strings.EqualFold(change.Code, d.pathID) {
		// The path names the city by its code; if that is not an id, then the
		// body's is.
		if ownID, err := report.ParseID(own); err == nil && ownID != id {
			change.OwnID = ownID
		}
	}
	r.accept(d, report.Delivery{Changes: []report.Change{change}}, nil)
}

// delete takes the removal of the one document that its path names, whether or
// not it is known.
func (r *Receiver) delete(d *delivery) {
	id, p := pathID(d.pathID)
	if p != nil {
		r.refuse(d, p, nil)
		return
	}
	r.accept(d, report.Delivery{Changes: []report.Change{{
		Key: report.Key{Kind: d.kind, ID: id}, Op: report.Delete,
	}}}, nil)
}

// readJSON returns the body without white space around it. Where it returns
// false, the request has been answered.
func (r *Receiver) readJSON(d *delivery) ([]byte, bool) {
	body, p := readBody(d.w, d.req, r.maxBody)
	if p != nil {
		r.refuse(d, p, body)
		return nil, false
	}
	if err := checkJSON(body); err != nil {
		r.refuse(d, newProblem(http.StatusBadRequest, reasonJSON,
			"The body is not JSON that Elasticsearch would take: "+err.Error()+"."), body)
		return nil, false
	}
	return trimSpace(body), true
}

// changeFor makes a change of one record of a POST, or says why it cannot.
func (r *Receiver) changeFor(d *delivery, s *splitter, record []byte) (report.Change, *report.Refusal) {
	own, stated := s.idIn(record)
	if !stated {
		return report.Change{}, &report.Refusal{Reason: reasonNoID, Body: record,
			Detail: "The record has no id: it is no object, or holds no number or text at " + s.idPlaces() + "."}
	}
	id, err := report.ParseID(own)
	if err != nil {
		return report.Change{}, &report.Refusal{ID: own, Reason: idReason(err), Body: record, Detail: sentence(err)}
	}
	return report.Change{
		Key: report.Key{Kind: d.kind, ID: id}, Op: report.Index, Code: s.codeIn(record), Body: record,
	}, nil
}

// accept appends out and answers once it is durable.
func (r *Receiver) accept(d *delivery, out report.Delivery, answers []refused) {
	// A sender that hangs up now has sent all of it: better to have it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.req.Context()), appendTimeout)
	defer cancel()
	stamps, err := r.journal.Append(ctx, out)
	if err != nil {
		r.log.Error("delivery not accepted: the journal could not make it durable",
			"kind", d.kind, "method", d.req.Method, "changes", len(out.Changes), "error", err)
		r.answer(d, newProblem(http.StatusServiceUnavailable, "journal",
			"The delivery could not be made durable now. Nothing of it was accepted; send it again later."))
		return
	}
	r.log.Debug("delivery accepted", "kind", d.kind, "method", d.req.Method,
		"changes", len(stamps), "refused", len(answers), "first_id", stamps[0].ID, "version", stamps[len(stamps)-1].Version)
	if answers == nil {
		answers = []refused{}
	}
	r.metrics.answered(d.kind, d.req.Method, http.StatusAccepted)
	writeAccepted(d.w, accepted{Accepted: len(out.Changes), Refused: answers})
}

// refuse answers with p and keeps the whole delivery for inspection.
func (r *Receiver) refuse(d *delivery, p *problem, body []byte) {
	refusal := report.Refusal{Position: -1, ID: d.pathID, Reason: p.Reason, Detail: p.Detail, Body: body}
	r.note(d, &refusal)
	r.keep(d.req.Context(), report.Delivery{Refusals: []report.Refusal{refusal}})
	r.answer(d, p)
}

// note completes a refusal, counts and logs it, and returns it as an answer
// shows it.
func (r *Receiver) note(d *delivery, refusal *report.Refusal) refused {
	refusal.At = r.now()
	refusal.Kind, refusal.Method, refusal.Path = d.kind, d.req.Method, d.req.URL.Path
	r.metrics.refusedFor(d.kind, refusal.Reason)
	r.log.Warn("refused", "kind", d.kind, "method", refusal.Method, "position", refusal.Position,
		"id", shortened(refusal.ID), "reason", refusal.Reason, "detail", refusal.Detail)
	answer := refused{Position: refusal.Position, Reason: refusal.Reason, Detail: refusal.Detail}
	if refusal.ID != "" {
		id := shortened(refusal.ID)
		answer.ID = &id
	}
	return answer
}

// keep stores what was refused. That it is kept is a help for people, not a
// promise to the sender, who is told that nothing was accepted.
func (r *Receiver) keep(parent context.Context, out report.Delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), appendTimeout)
	defer cancel()
	if _, err := r.journal.Append(ctx, out); err != nil {
		r.log.Error("what was refused could not be kept", "refused", len(out.Refusals), "error", err)
	}
}

func (r *Receiver) answer(d *delivery, p *problem) {
	r.metrics.answered(d.kind, d.req.Method, p.Status)
	writeProblem(d.w, p)
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
