package receiver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"riskdex/report"
)

// delivery is one request on its way through the receiver.
type delivery struct {
	call
	w      http.ResponseWriter
	req    *http.Request
	intake *intake

	signedID string // that the sender gave to it; empty where it is not signed
}

// newDelivery returns the delivery of a request. Whoever has it ends it.
func (r *Receiver) newDelivery(c call, w http.ResponseWriter, req *http.Request) *delivery {
	// Deadlines of connections are by the system's clock.
	p := &pace{ReadCloser: req.Body, until: http.NewResponseController(w).SetReadDeadline, now: time.Now}
	h := &holding{of: r.memory, stop: p.stop}
	p.mustStop = h.mustGiveWay
	return &delivery{call: c, w: w, req: req, intake: &intake{w: w, req: req, limit: r.maxBody, hold: h, pace: p}}
}

// end gives back what the delivery holds, once it has its answer.
func (d *delivery) end() {
	d.intake.pace.done() // also where nothing of the body was read
	d.intake.hold.leave()
}

// appendTimeout bounds how long a sender waits for the journal.
const appendTimeout = 30 * time.Second

// deliver answers one of the nine calls.
func (r *Receiver) deliver(d *delivery) {
	if !r.verified(d) || r.tooMany(d) {
		return
	}
	var body []byte
	if d.method != http.MethodDelete { // whatever one carries says nothing
		var p *problem
		if body, p = d.intake.read(); p != nil {
			r.refuseUnread(d, p, body)
			return
		}
	} else {
		d.intake.end()
	}
	in, p := r.understand(d.call, body)
	if p != nil {
		r.refuse(d, p, body, false)
		return
	}
	answers := make([]refused, len(in.refused))
	for i := range in.refused {
		answers[i] = r.fill(d, &in.refused[i])
	}
	out := report.Delivery{Changes: in.changes, Refusals: in.refused}
	if len(out.Changes) == 0 {
		r.noteAll(d, in.refused)
		r.keep(d.req.Context(), out)
		r.answer(d, noneAccepted(answers))
		return
	}
	r.accept(d, out, answers, body)
}

// accept appends out and answers once it is durable. body is what out was made of.
func (r *Receiver) accept(d *delivery, out report.Delivery, answers []refused, body []byte) {
	ctx := d.req.Context()
	if r.tracer != nil {
		name := traceOf(ctx)
		for i := range out.Changes {
			out.Changes[i].Trace = name
		}
	}
	text := accepted{Accepted: len(out.Changes), Refused: answers}.text()
	out.Receipt, out.Gone = d.receipt(body, text), ctx.Done()
	stamps, err := r.append(ctx, out)
	if r.repeated(d, body, err) {
		return
	}
	r.noteAll(d, out.Refusals)
	if err != nil {
		r.log.ErrorContext(ctx, "delivery not accepted: the journal could not make it durable",
			"kind", d.kind, "method", d.method, "changes", len(out.Changes), "error", err)
		r.answer(d, notDurable(err))
		return
	}
	r.log.DebugContext(ctx, "delivery accepted", "kind", d.kind, "method", d.method,
		"changes", len(stamps), "refused", len(answers), "first_id", stamps[0].ID, "version", stamps[len(stamps)-1].Version)
	r.answered(ctx, Answered{Kind: d.kind, Method: d.method, Status: http.StatusAccepted, Accepted: len(out.Changes), Refused: len(answers)})
	writeBody(d.w, http.StatusAccepted, "application/json", text)
}

// append hands d to the journal. A sender that hangs up now has sent all of it: whether
// to have it nevertheless is left to the journal.
func (r *Receiver) append(parent context.Context, d report.Delivery) ([]report.Stamp, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), appendTimeout)
	defer cancel()
	return r.journal.Append(ctx, d)
}

// notDurable is the answer to a delivery that the journal did not take. It may
// have taken it all the same, if the wait for it was what ended.
func notDurable(err error) *problem {
	if errors.Is(err, report.ErrNoRoom) {
		return newProblem(http.StatusServiceUnavailable, reasonNoRoom,
			"There is no room to keep the delivery. Nothing of it was accepted; send it again later. The operator is to make room.")
	}
	return newProblem(http.StatusServiceUnavailable, reasonJournal,
		"The delivery could not be made durable now. Do not count on it; send it again later, which is harmless in any case.")
}

// refuse answers with p and keeps the whole delivery for inspection. cut tells
// that body is not all of what was sent.
func (r *Receiver) refuse(d *delivery, p *problem, body []byte, cut bool) {
	refusal := report.Refusal{Position: -1, ID: d.pathID, Reason: p.Reason, Detail: p.Detail, Body: body, Cut: cut}
	r.fill(d, &refusal)
	r.note(d, refusal)
	r.keep(d.req.Context(), report.Delivery{Refusals: []report.Refusal{refusal}})
	r.answer(d, p)
}

// refuseUnread is refuse for a body that was not read to its end. One for which
// there was no room is not at fault, and is not kept: it would take room.
func (r *Receiver) refuseUnread(d *delivery, p *problem, body []byte) {
	if p.Reason == reasonBusy || p.Reason == reasonTooSlow {
		d.w.Header().Set("Connection", "close") // the rest is not read
	}
	if p.Reason != reasonBusy {
		r.refuse(d, p, body, true)
		return
	}
	r.log.WarnContext(d.req.Context(), "delivery not accepted: too many large ones come at once", "kind", d.kind, "method", d.method)
	r.answer(d, p)
}

// note counts and logs a refusal. A delivery that comes twice is noted once.
func (r *Receiver) note(d *delivery, refusal report.Refusal) {
	r.metrics.refusedFor(d.kind, refusal.Reason)
	r.log.WarnContext(d.req.Context(), "refused", "kind", d.kind, "method", refusal.Method, "position", refusal.Position,
		"id", shortened(refusal.ID), "reason", refusal.Reason, "detail", refusal.Detail)
}

func (r *Receiver) noteAll(d *delivery, refusals []report.Refusal) {
	for _, refusal := range refusals {
		r.note(d, refusal)
	}
}

// fill completes a refusal, and returns it as an answer shows it.
func (r *Receiver) fill(d *delivery, refusal *report.Refusal) refused {
	refusal.At = r.now()
	refusal.Kind, refusal.Method, refusal.Path = d.kind, d.req.Method, d.req.URL.Path
	answer := refused{Position: refusal.Position, Reason: refusal.Reason, Detail: refusal.Detail}
	if refusal.ID != "" {
		id := shortened(refusal.ID)
		answer.ID = &id
	}
	return answer
}

// keep stores what was refused. That it is kept is a help for people, not a
// promise to the sender, who is told that nothing was accepted.
func (r *Receiver) keep(ctx context.Context, out report.Delivery) {
	if _, err := r.append(ctx, out); err != nil {
		r.log.ErrorContext(ctx, "what was refused could not be kept", "refused", len(out.Refusals), "error", err)
	}
}

func (r *Receiver) answer(d *delivery, p *problem) {
	r.answered(d.req.Context(), Answered{Kind: d.kind, Method: d.method, Status: p.Status, Reason: p.Reason, Refused: len(p.Refused)})
	writeProblem(d.w, p)
}
