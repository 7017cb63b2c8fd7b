package receiver

import (
	"context"
	"net/http"
	"strings"
	"time"

	"riskdex/internal/requestid"
	"riskdex/receiver/body"
	"riskdex/report"
)

// delivery is one request on its way through the receiver.
type delivery struct {
	call
	w      http.ResponseWriter
	req    *http.Request
	reader *body.Reader // of the body

	about    string // id of the document, or of the first of several; empty where it is not known
	signedID string // that the sender gave to it; empty where it is not signed
	stray    bool   // it is none of the nine calls
}

// newDelivery returns the delivery of a request. The caller closes its reader.
func (r *Receiver) newDelivery(c call, w http.ResponseWriter, req *http.Request) *delivery {
	return &delivery{call: c, about: c.pathID, w: w, req: req, reader: r.budget.NewReader(w, req, r.maxBody)}
}

// appendTimeout bounds how long a sender waits for the journal.
const appendTimeout = 30 * time.Second

// deliver answers one of the nine calls.
func (r *Receiver) deliver(d *delivery) {
	if !r.verified(d) || r.tooFast(d) {
		return
	}
	var body []byte
	if d.method != http.MethodDelete { // its body means nothing
		var err error
		if body, err = d.reader.ReadAll(); err != nil {
			r.refuseUnread(d, r.unread(err), body)
			return
		}
	} else {
		d.reader.Skip()
	}
	if p := part(d.req.Header); p != nil && d.method != http.MethodDelete {
		r.refuse(d, p, body, true)
		return
	}
	in, p := r.parser.parse(d.call, body, d.reader.Grow)
	if p != nil && p.Reason == reasonBusy {
		r.busy(d, p)
		return
	}
	if p != nil && p.Reason == reasonJSON {
		p = notJSON(d.req.Header, body, p)
	}
	if p != nil {
		r.refuse(d, p, body, false)
		return
	}
	if len(in.changes) == 0 && in.refused.total > 0 {
		r.decline(d, noneAccepted(in.refused), in.refused, body)
		return
	}
	condition := precondition(d.method, d.req.Header)
	for i := range in.changes {
		in.changes[i].If = condition
	}
	r.accept(d, in, body)
}

// accept appends the changes of a body, and answers once they are durable.
func (r *Receiver) accept(d *delivery, in contents, content []byte) {
	ctx := d.req.Context()
	if len(in.changes) > 0 {
		d.about = string(in.changes[0].ID)
	}
	out := r.toAppend(d, in.refused)
	out.Changes, out.Source = in.changes, r.sourceOf(d)
	if r.tracer != nil {
		name := traceOf(ctx)
		for i := range out.Changes {
			out.Changes[i].Trace = name
		}
	}
	out.Ambiguous = func(change int) report.Refusal {
		refusal := in.ambiguous(d.call, change)
		r.fill(d, &refusal)
		return refusal
	}
	if out.Receipt = d.receipt(content, outcome{}); out.Receipt != nil {
		out.Receipt.Answers = func(stamps []report.Stamp) []byte { return in.result(d.call, stamps).outcome().text() }
	}
	out.Gone = hungUp(ctx)
	stamps, err := r.append(ctx, out)
	if r.repeated(d, in.refused, content, err) {
		return
	}
	if err != nil {
		r.note(d, in.refused)
		r.answerNotDurable(d, err, "changes", len(out.Changes))
		return
	}
	if len(stamps) > 0 && stamps[0].ID != "" {
		d.about = string(stamps[0].ID) // of the city that the delivery names by its code
	}
	r.noteMismatch(d, in, stamps)
	result := in.result(d.call, stamps)
	r.note(d, result.refused)
	if result.problem != nil {
		r.answer(d, result.problem)
		return
	}
	r.metrics.unknown.WithLabelValues(string(d.kind)).Add(float64(len(result.unknown)))
	if len(stamps) == 0 {
		r.log.InfoContext(ctx, "delivery accepted; it holds no records", "kind", d.kind, "method", d.method)
	} else {
		r.log.DebugContext(ctx, "delivery accepted", "kind", d.kind, "method", d.method, "changes", result.accepted, "unknown", len(result.unknown),
			"refused", result.refused.total, "first_id", stamps[0].ID, "delivery", result.name)
	}
	body := accepted{
		Accepted: result.accepted, Refused: result.refused.listed(), RefusedTotal: result.refused.total, Unknown: result.unknown,
		Delivery: result.name,
	}
	a := d.answered(r.settle(d, &body, stamps), "")
	a.Accepted, a.Refused, a.Delivery, a.Sender = result.accepted, result.refused.total, result.name, out.Source.Sender
	r.answered(ctx, a)
	writeJSON(d.w, a.Status, "application/json", body)
}

// settle waits for the search if the sender prefers that, and returns the status of the answer.
// stamps are of what is accepted, or newer.
func (r *Receiver) settle(d *delivery, body *accepted, stamps []report.Stamp) int {
	d.reader.Close() // gives its memory back before a wait
	if shown, waited := r.waits.wait(d, stamps); waited {
		body.Searchable = new(min(shown, body.Accepted))
		if *body.Searchable == body.Accepted {
			return http.StatusOK
		}
	}
	return http.StatusAccepted
}

// longestCall is how much is kept of the path of a call.
const longestCall = 512

// sourceOf says from whom a delivery came.
func (r *Receiver) sourceOf(d *delivery) (s report.Source) {
	s.Sender, s.Address = r.authenticator.Sender(d.req)
	s.Sender = strings.ToValidUTF8(s.Sender, "�")
	s.Request = requestid.Of(d.req.Context())
	s.Call = d.req.Method + " " + d.req.URL.Path
	if len(s.Call) > longestCall {
		s.Call = s.Call[:longestCall] + "…"
	}
	return s
}

// append passes d to the journal, which asks by itself whether the sender has hung up
// (report.Delivery.Gone).
func (r *Receiver) append(parent context.Context, d report.Delivery) ([]report.Stamp, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), appendTimeout)
	defer cancel()
	return r.journal.Append(ctx, d)
}

// refuse answers with p and keeps the whole delivery for inspection. cut says that body is
// not all of what was sent.
func (r *Receiver) refuse(d *delivery, p *problem, body []byte, cut bool) {
	content := body
	if cut { // what was sent distinguishes it from other deliveries
		content = d.reader.Raw()
	}
	var list refusals
	list.add(report.Refusal{Position: -1, ID: d.pathID, Reason: p.Reason, Detail: p.Detail, Body: body, Cut: cut})
	r.decline(d, p, list, content)
}

// decline keeps what was refused of a delivery of which nothing is accepted, and answers with
// p. Keeping refusals is best effort, except for a signed delivery: without its receipt, its
// signature could be used for another delivery.
func (r *Receiver) decline(d *delivery, p *problem, list refusals, body []byte) {
	if d.about == "" {
		d.about = list.first[0].ID
	}
	out := r.toAppend(d, list)
	out.Receipt = d.receipt(body, p.outcome())
	_, err := r.append(d.req.Context(), out)
	if r.repeated(d, list, body, err) {
		return
	}
	if err != nil && out.Receipt != nil {
		r.answerNotDurable(d, err, "refused", list.total)
		return
	}
	if err != nil {
		l := whyNotDurable(err)
		r.logLimited(&r.rejections, d, l.level, "what was refused could not be kept: "+l.says, "refused", list.total, "error", err)
	}
	r.note(d, list)
	r.answer(d, p)
}

// toAppend returns the part of the journal's delivery that keeps what was refused.
func (r *Receiver) toAppend(d *delivery, list refusals) report.Delivery {
	for i := range list.first {
		r.fill(d, &list.first[i])
	}
	return report.Delivery{Refusals: list.first, MoreRefused: list.more()}
}

// fill completes a refusal.
func (r *Receiver) fill(d *delivery, refusal *report.Refusal) {
	refusal.At = r.now()
	refusal.Kind, refusal.Method, refusal.Path = d.kind, d.req.Method, d.req.URL.Path
}

// refuseUnread is refuse for a body that was not read to its end. A delivery for which there
// was no memory is not refused, and not kept, which would take memory.
func (r *Receiver) refuseUnread(d *delivery, p *problem, body []byte) {
	if p.Reason == reasonBusy || p.Reason == reasonTooSlow {
		d.w.Header().Set("Connection", "close") // the rest is not read
	}
	if p.Reason != reasonBusy {
		r.refuse(d, p, body, true)
		return
	}
	r.busy(d, p)
}

// busy answers a delivery for which there is no memory.
func (r *Receiver) busy(d *delivery, p *problem) {
	r.metrics.notDurable.WithLabelValues(string(d.kind), causeBusy).Inc()
	r.log.WarnContext(d.req.Context(), "delivery not accepted: too many large ones come at once", "kind", d.kind, "method", d.method)
	r.answer(d, p)
}

// note counts and logs what was refused. A repeated delivery is noted once.
func (r *Receiver) note(d *delivery, list refusals) {
	if list.total == 0 {
		return
	}
	for reason, n := range list.counts {
		r.metrics.refusedFor(d.kind, reason, n)
	}
	what := "delivery refused"
	if list.first[0].Position >= 0 {
		what = "records of a delivery refused"
	}
	r.log.WarnContext(d.req.Context(), what, append([]any{"kind", d.kind, "method", d.req.Method, "path", shortened(d.req.URL.Path)}, list.logged()...)...)
}

func (r *Receiver) answer(d *delivery, p *problem) {
	a := d.answered(p.Status, p.Reason)
	a.Refused = p.RefusedTotal
	r.answered(d.req.Context(), a)
	writeProblem(d.w, p)
}

// answered describes the delivery for Receiver.answered.
func (d *delivery) answered(status int, reason string) report.Answered {
	a := report.Answered{Kind: d.kind, Method: d.method, Status: status, Reason: reason, ID: shortened(d.about)}
	if reason == reasonPath || reason == reasonMethod {
		a.Path = shortened(d.req.URL.Path)
	}
	return a
}
