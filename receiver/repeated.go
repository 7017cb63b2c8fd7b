package receiver

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"

	"riskdex/report"
)

// webhookSender is whose ids the signed ids of deliveries are. All keys are one
// publisher's: while they are changed, a delivery may come under either.
const webhookSender = "webhook"

// receipt is that of a delivery whose sender has signed an id for it, or nil. The
// signature is over the id and the body; what the delivery does with the body is
// in the digest, so that nobody makes another one of it.
func (d *delivery) receipt(body []byte, answer []byte) *report.Receipt {
	if d.signedID == "" {
		return nil
	}
	digest := sha256.New()
	fmt.Fprintf(digest, "%s %s %q\n", d.method, d.kind, d.pathID)
	digest.Write(body)
	return &report.Receipt{Sender: webhookSender, ID: d.signedID, Digest: digest.Sum(nil), Answer: answer}
}

// repeated answers a delivery that the journal has a receipt of, and tells whether
// err says so.
func (r *Receiver) repeated(d *delivery, body []byte, err error) bool {
	if first, ok := errors.AsType[*report.RepeatedError](err); ok {
		r.log.Info("delivery repeated: answered as before", "kind", d.kind, "method", d.method, "id", shortened(d.pathID))
		r.answered(d.req.Context(), Answered{Kind: d.kind, Method: d.method, Status: http.StatusAccepted, Reason: "repeated"})
		writeBody(d.w, http.StatusAccepted, "application/json", first.Answer)
		return true
	}
	if errors.Is(err, report.ErrIDReused) {
		r.refuse(d, newProblem(http.StatusConflict, reasonIDReused,
			"Another delivery with the same webhook-id was accepted before. Give every delivery an id of its own; only the same delivery, sent again, has the same."), body, false)
		return true
	}
	return false
}
