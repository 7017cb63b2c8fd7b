package receiver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"riskdex/receiver/body"
	"riskdex/report"
)

// RefusedError is why a retried delivery or a replacement body is not accepted.
type RefusedError struct {
	Reason string // one word, as in the answer to a delivery
	Detail string // a sentence for people: what is wrong, where, what to do
}

func (e *RefusedError) Error() string { return e.Detail }

// Refused returns both, for callers that do not import this package.
func (e *RefusedError) Refused() (reason, detail string) { return e.Reason, e.Detail }

// reasonCut is why a retry is refused whose body is incomplete.
const reasonCut = "incomplete"

// reasonPlaceForgotten is why a retry is refused that could bring back what was deleted.
const reasonPlaceForgotten = "place_forgotten"

// Redeliver passes a refused delivery through the checks again, with its method, kind and id,
// and the kept body, or edited where that is not nil. It is accepted as a whole or not at all:
// then the error is a *RefusedError or the journal's, the kept refusal stays, and no other is
// kept or counted.
//
// A stamp with version 0 is of a document that has been delivered again since the refusal; the
// retry has not changed it.
func (r *Receiver) Redeliver(ctx context.Context, refusal report.Refusal, edited []byte) ([]report.Stamp, error) {
	if never := neverRetried(refusal); never != nil {
		return nil, never
	}
	body := edited
	if body == nil && refusal.Method != http.MethodDelete {
		if refusal.Cut {
			return nil, &RefusedError{reasonCut,
				"Only the beginning of its body was read or kept. Retry it with the whole body, or ask the publisher to deliver it again, then drop it."}
		}
		body = refusal.Body
	}
	grow, shrink := growing(ctx)
	defer shrink()
	in, p := r.parser.parse(call{kind: refusal.Kind, method: refusal.Method, pathID: refusal.ID}, body, grow)
	switch {
	case p != nil && p.Reason == reasonBusy:
		return nil, errBusy
	case p != nil:
		return nil, &RefusedError{p.Reason, p.Detail}
	case in.refused.total > 0:
		first := in.refused.first[0]
		if records := len(in.changes) + in.refused.total; records > 1 {
			first.Detail = fmt.Sprintf("Of its %d records, %d cannot be accepted, and a retry is accepted as a whole or not at all. The first is at position %d: %s",
				records, in.refused.total, first.Position, first.Detail)
		}
		return nil, &RefusedError{first.Reason, first.Detail}
	case len(in.changes) == 0:
		return nil, &RefusedError{reasonNoRecord, "There is no record in it, so a retry would do nothing. To give it up, drop it."}
	}
	stamps, err := r.append(ctx, report.Delivery{Changes: in.changes, RetryOf: refusal.Seq})
	if errors.Is(err, report.ErrAmbiguous) {
		return nil, &RefusedError{reasonAmbiguous,
			"It is not known which city has the code that it names one by: several state it, or the journal was set back and may have lost the one that does. Retry it once all but one of them have given the code up, or the loss is acknowledged, or drop it."}
	}
	if errors.Is(err, report.ErrPlaceForgotten) {
		return nil, &RefusedError{reasonPlaceForgotten,
			"riskdex has dropped tombstones of deletes that came after it was refused, so it is not known whether something in it was deleted meanwhile. Ask the publisher to deliver it again, or deliver its body yourself, then drop it."}
	}
	if err != nil {
		return nil, fmt.Errorf("retry the refused delivery %d: %w", refusal.Seq, err)
	}
	r.log.InfoContext(ctx, "refused delivery retried", "number", refusal.Seq, "kind", refusal.Kind, "method", refusal.Method, "changes", len(stamps), "edited", edited != nil)
	return stamps, nil
}

// neverRetried returns why a refusal cannot be retried with any body, nil where it can.
func neverRetried(refusal report.Refusal) *RefusedError {
	switch refusal.Reason {
	case reasonPath, reasonMethod:
		return &RefusedError{refusal.Reason, fmt.Sprintf(
			"It came as %s %s, which takes no delivery, so it is not certain what it is. Deliver its body to the right path, then drop it.",
			refusal.Method, refusal.Path)}
	case report.ReasonLost:
		return &RefusedError{refusal.Reason, "The riskdex that is followed has no record of it. Once it is delivered again there, this goes by itself."}
	case reasonIDReused:
		// The signature is valid but covers neither path nor method, so it may be a replay by
		// somebody who has seen the first delivery.
		return &RefusedError{refusal.Reason, fmt.Sprintf(
			"It came as %s %s with the webhook-id of another delivery, so it is not certain that the publisher meant it. Ask the publisher to deliver it again under an id of its own, or drop it.",
			refusal.Method, refusal.Path)}
	}
	return nil
}

// MayRetry reports how a refusal may be retried, without parsing its body.
func (r *Receiver) MayRetry(refusal report.Refusal) report.MayRetry {
	inPath := refusal.Method != http.MethodPost // its id, which cannot be edited
	switch {
	case neverRetried(refusal) != nil, inPath && (refusal.Reason == reasonIDTooLong || refusal.Reason == reasonIDInvalid):
		return report.RetryNever
	case refusal.Cut && refusal.Method != http.MethodDelete, refusal.Reason == reasonJSON, refusal.Reason == reasonIDTooLong, refusal.Reason == reasonIDInvalid:
		return report.RetryEdited
	}
	return report.RetryAsIs
}

// growing returns the grow of a body from an operator, of the memory that ctx carries, and a function
// that gives it back.
func growing(ctx context.Context) (grow func(int64) error, shrink func()) {
	var own int64
	return func(bytes int64) error {
			err := body.Grow(ctx, bytes)
			if err == nil {
				own += bytes
			}
			return err
		}, func() {
			_ = body.Grow(ctx, -own)
		}
}

// errBusy is why an operator's body is not accepted while others have the memory.
var errBusy = errors.New("too many large bodies at once; try again later")

// Replacement returns the change that a PUT of body to the document's path would make, or a
// *RefusedError.
func (r *Receiver) Replacement(ctx context.Context, key report.Key, body []byte) (report.Change, error) {
	grow, shrink := growing(ctx)
	defer shrink()
	change, err := r.parser.record(key, body, grow)
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Reason == reasonBusy {
		err = errBusy
	}
	change.OwnID = "" // the document is certain
	return change, err
}
