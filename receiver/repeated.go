package receiver

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"riskdex/report"
)

// webhookSender is whose ids the signed ids of deliveries are. All keys are one
// publisher's: while they are changed, a delivery may come under either.
const webhookSender = "webhook"

// outcome is what a receipt keeps of the answer to a delivery: all but the records that
// were refused, which are found again in the same delivery.
type outcome struct {
	Status       int    `json:"status"` // 0 where an older riskdex kept it: 202
	Accepted     int    `json:"accepted,omitempty"`
	RefusedTotal int    `json:"refused_total,omitempty"`
	Unknown      []int  `json:"unknown,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Detail       string `json:"detail,omitempty"`
}

func (p *problem) outcome() outcome {
	return outcome{Status: p.Status, RefusedTotal: p.RefusedTotal, Reason: p.Reason, Detail: p.Detail}
}

// receipt is that of a delivery whose sender has signed an id for it, or nil. The
// signature is over the id and the body; where the delivery came to and what it does
// there is in the digest, so that nobody makes another one of it.
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
	return &report.Receipt{Sender: webhookSender, ID: d.signedID, Digest: digest.Sum(nil), Answer: o.text()}
}

func (o outcome) text() []byte {
	text, err := json.Marshal(o)
	if err != nil { // only for types that JSON cannot have, and these are ours
		panic(err)
	}
	return text
}

// repeated answers a delivery that the journal has a receipt of, and tells whether
// err says so. list is what is refused of it.
func (r *Receiver) repeated(d *delivery, list refusals, body []byte, err error) bool {
	if first, ok := errors.AsType[*report.RepeatedError](err); ok {
		r.log.Info("delivery repeated: answered as before", "kind", d.kind, "method", d.method, "id", shortened(d.pathID))
		r.answerAgain(d, list, first.Answer)
		return true
	}
	if errors.Is(err, report.ErrIDReused) && d.signedID != "" {
		d.signedID = "" // the receipt of that id is another delivery's: what is kept of this one has none
		r.refuse(d, newProblem(http.StatusConflict, reasonIDReused,
			"Another delivery with the same webhook-id has come before. Give every delivery an id of its own; only the same delivery, sent again to the same path, has the same."), body, false)
		return true
	}
	return false
}

// answerAgain gives the answer of a receipt. Which records are refused is listed if it
// is as many as then: where they are looked for may have been changed since.
func (r *Receiver) answerAgain(d *delivery, list refusals, receipt []byte) {
	var o outcome
	if err := json.Unmarshal(receipt, &o); err != nil {
		r.log.Error("a receipt in the journal cannot be read", "error", err)
	}
	listed := []refused{}
	if list.total == o.RefusedTotal {
		listed = list.listed()
	}
	if o.Status == 0 || o.Status == http.StatusAccepted {
		r.answered(d.req.Context(), d.answered(http.StatusAccepted, "repeated"))
		writeJSON(d.w, http.StatusAccepted, "application/json", accepted{Accepted: o.Accepted, Refused: listed, RefusedTotal: o.RefusedTotal, Unknown: o.Unknown})
		return
	}
	p := newProblem(o.Status, o.Reason, o.Detail)
	p.Refused, p.RefusedTotal = listed, o.RefusedTotal
	r.answered(d.req.Context(), d.answered(p.Status, "repeated"))
	writeProblem(d.w, p)
}
