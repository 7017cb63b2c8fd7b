package receiver

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"riskdex/report"
)

// webhookSender is the sender of all signed ids. All keys are one publisher's: during a
// rotation, a delivery may be signed with either.
const webhookSender = "webhook"

// outcome is the part of an answer that a receipt keeps: everything but the refused records,
// which are found again in the same delivery.
type outcome struct {
	Status       int    `json:"status"`
	Accepted     int    `json:"accepted,omitempty"`
	RefusedTotal int    `json:"refused_total,omitempty"`
	Unknown      []int  `json:"unknown,omitempty"`
	Delivery     string `json:"delivery,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Detail       string `json:"detail,omitempty"`
}

func (p *problem) outcome() outcome {
	return outcome{Status: p.Status, RefusedTotal: p.RefusedTotal, Reason: p.Reason, Detail: p.Detail}
}

// receipt returns the receipt of a delivery with a signed id, or nil. The signature covers the
// id and the body. The digest adds method and path, so that nobody can replay the delivery as
// another one.
func (d *delivery) receipt(body []byte, o outcome) *report.Receipt {
	if d.signedID == "" {
		return nil
	}
	digest := sha256.New()
	if d.stray {
		fmt.Fprintf(digest, "%s - %q\n", d.method, d.req.URL.Path)
	} else {
		fmt.Fprintf(digest, "%s %s %q\n", d.method, d.kind, d.pathID)
	}
	digest.Write(body)
	return &report.Receipt{
		Sender: webhookSender, ID: d.signedID, Digest: digest.Sum(nil), Answer: o.text(), Newest: preferredWait(d.req.Header) > 0,
	}
}

func (o outcome) text() []byte {
	text, err := json.Marshal(o)
	if err != nil { // only for types of ours that JSON cannot express
		panic(err)
	}
	return text
}

// repeated reports whether err says that the journal has a receipt of the delivery, and then
// has answered. list is what is refused of it.
func (r *Receiver) repeated(d *delivery, list refusals, body []byte, err error) bool {
	if first, ok := errors.AsType[*report.RepeatedError](err); ok {
		r.log.InfoContext(d.req.Context(), "delivery repeated: answered as before", "kind", d.kind, "method", d.method, "id", shortened(d.pathID))
		r.answerAgain(d, list, first)
		return true
	}
	if errors.Is(err, report.ErrIDReused) && d.signedID != "" {
		d.signedID = "" // the receipt of that id is another delivery's, so this one gets none
		r.refuse(d, newProblem(http.StatusConflict, reasonIDReused,
			"Another delivery with the same webhook-id has come before. Give every delivery an id of its own; only the same delivery, sent again to the same path, has the same."), body, false)
		return true
	}
	return false
}

// answerAgain repeats the answer of a receipt. It lists the refused records if their number is
// the same: the settings by which they are found may have changed since.
func (r *Receiver) answerAgain(d *delivery, list refusals, first *report.RepeatedError) {
	var o outcome
	if err := json.Unmarshal(first.Answer, &o); err != nil {
		r.log.ErrorContext(d.req.Context(), "a receipt in the journal cannot be read", "error", err)
		o = outcome{Status: http.StatusAccepted} // what else has a receipt was refused, and may be sent again
	}
	listed := []refused{}
	if list.total == o.RefusedTotal {
		listed = list.listed()
	}
	if o.Status == http.StatusAccepted {
		body := accepted{Accepted: o.Accepted, Refused: listed, RefusedTotal: o.RefusedTotal, Unknown: o.Unknown, Delivery: o.Delivery}
		stamps := first.Newest
		if name, err := report.ParseDeliveryName(o.Delivery); err == nil {
			// One that the first delivery has changed is as new as that, or its code has led elsewhere.
			stamps = slices.DeleteFunc(stamps, func(s report.Stamp) bool { return 0 < s.Version && s.Version < name.First })
		}
		a := d.answered(r.settle(d, &body, stamps), "repeated")
		r.answered(d.req.Context(), a)
		writeJSON(d.w, a.Status, "application/json", body)
		return
	}
	p := newProblem(o.Status, o.Reason, o.Detail)
	p.Refused, p.RefusedTotal = listed, o.RefusedTotal
	r.answered(d.req.Context(), d.answered(p.Status, "repeated"))
	writeProblem(d.w, p)
}
