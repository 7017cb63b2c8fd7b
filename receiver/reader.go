package receiver

import (
	"net/http"

	"riskdex/report"
)

// Reader reads payloads as a Receiver does, and delivers nothing. It may be used concurrently.
type Reader struct{ parser bodyParser }

// NewReader returns a reader of the payloads that a Receiver with cfg takes, or an error that
// says what is wrong in cfg.
func NewReader(cfg Config) (*Reader, error) {
	p, err := newBodyParser(cfg)
	if err != nil {
		return nil, err
	}
	return &Reader{p}, nil
}

// Records returns the changes that the POST of a body would make, how many records of it would
// be refused, and why the first of them. The error is a *RefusedError.
func (r *Reader) Records(kind report.Kind, body []byte) (changes []report.Change, refused int, why string, err error) {
	in, p := r.parser.parse(call{kind: kind, method: http.MethodPost}, body, unbounded)
	if p != nil {
		return nil, 0, "", &RefusedError{p.Reason, p.Detail}
	}
	if in.refused.total > 0 {
		why = in.refused.first[0].Detail
	}
	return in.changes, in.refused.total, why, nil
}

// Record returns the change that the PUT of a body would make. The error is a *RefusedError.
func (r *Reader) Record(key report.Key, body []byte) (report.Change, error) {
	return r.parser.record(key, body, unbounded)
}

// NoID reports whether a body was refused because it is not known where the ids of its records
// are.
func (e *RefusedError) NoID() bool { return e.Reason == reasonNoID }

// IDText returns a JSON number or text as an id, and whether it can be one.
func IDText(raw []byte) (report.ID, bool) {
	text, ok := scalarText(raw)
	if !ok {
		return "", false
	}
	id, err := report.ParseID(text)
	return id, err == nil
}
