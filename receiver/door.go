package receiver

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"riskdex/receiver/auth"
	"riskdex/report"
)

// webhookSender is whose ids the signed ids of deliveries are. All keys are one
// publisher's: while they are changed, a delivery may come under either.
const webhookSender = "webhook"

// greeted lets those on whose requests the door lets in before their bodies are
// read, whatever the path. What it turns away is counted and logged, and not kept:
// strangers must not fill the journal.
func (r *Receiver) greeted(prefix string, next http.Handler) http.Handler {
	if r.door == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if refusal := r.door.Greet(req); refusal != nil {
			d := &delivery{call: call{kind: kindInPath(prefix, req.URL.Path), method: req.Method}, w: w, req: req}
			r.turnAway(d, refusal)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// verified tells whether a delivery may go on; otherwise it has its answer. Where
// deliveries are signed, it reads the body as it was sent and leaves it to be read
// once more: nothing is decompressed before it is known whose it is.
func (r *Receiver) verified(d *delivery) bool {
	if r.door == nil || !r.door.Signed() {
		return true
	}
	raw, p := readRaw(d.w, d.req, r.maxBody)
	if p != nil {
		r.strangers.warn(r, d, p.Reason)
		r.metrics.refusedFor("", p.Reason)
		r.answer(d, p)
		return false
	}
	id, refusal := r.door.Verify(d.req, raw)
	if refusal != nil {
		r.turnAway(d, refusal)
		return false
	}
	d.signedID = id
	d.req.Body = &readBefore{Reader: bytes.NewReader(raw), all: raw}
	return true
}

// readBefore is a body that is in memory already.
type readBefore struct {
	*bytes.Reader
	all []byte
}

// Close implements io.Closer.
func (*readBefore) Close() error { return nil }

func readRaw(w http.ResponseWriter, req *http.Request, limit int64) ([]byte, *problem) {
	var body bytes.Buffer
	if n := req.ContentLength; n > 0 && n <= limit {
		body.Grow(int(n) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(http.MaxBytesReader(w, req.Body, limit)); err != nil {
		return nil, readProblem(err, limit, false)
	}
	return body.Bytes(), nil
}

func (r *Receiver) turnAway(d *delivery, refusal *auth.Refusal) {
	r.strangers.warn(r, d, string(refusal.Cause))
	r.metrics.refusedFor("", string(refusal.Cause))
	for _, challenge := range refusal.Challenges {
		d.w.Header().Add("WWW-Authenticate", challenge)
	}
	r.answer(d, newProblem(refusal.Status, refusal.Reason, refusal.Detail))
}

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
		r.answered(Answered{Kind: d.kind, Method: d.method, Status: http.StatusAccepted, Reason: "repeated"})
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

// strangers keeps those who are turned away from filling the log: it has one line
// a second, which tells how many had none.
type strangers struct {
	mu     sync.Mutex
	last   time.Time
	silent int
}

func (s *strangers) warn(r *Receiver, d *delivery, cause string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := r.now()
	if age := now.Sub(s.last); age >= 0 && age < time.Second {
		s.silent++
		return
	}
	r.log.Warn("turned away at the door", "reason", cause, "from", d.req.RemoteAddr, "kind", d.kind, "method", d.method, "others_since", s.silent)
	s.last, s.silent = now, 0
}

// causes are the reasons that are counted of what the door turns away.
func causes() []string {
	var list []string
	for _, c := range auth.Causes() {
		list = append(list, string(c))
	}
	return slices.Concat(list, []string{reasonTooLarge, reasonTruncated})
}
