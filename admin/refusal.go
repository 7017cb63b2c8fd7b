package admin

import (
	"context"
	"time"

	"riskdex/report"
)

// Refusals is what the calls on refused deliveries need of the journal.
type Refusals interface {
	// Refusals returns up to limit kept refusals, newest first, without bodies: those with a
	// Seq lower than before, or the newest ones if before is 0.
	Refusals(ctx context.Context, before int64, limit int) ([]report.Refusal, error)
	// Refusal returns a kept refusal with its body.
	Refusal(ctx context.Context, seq int64) (report.Refusal, error)
	// DropRefusals deletes refusals, and returns how many it found.
	DropRefusals(ctx context.Context, seqs []int64) (int, error)
}

// Receiver runs the checks that a delivery has to pass. If it refuses a body, the error has a
// method Refused() (reason, detail string).
type Receiver interface {
	// Redeliver runs the checks on a refused delivery again, with the kept body or, if edited
	// is not nil, the edited one. A stamp with version 0 is for a document that has something
	// newer, or for a delete of a document that does not exist.
	Redeliver(ctx context.Context, refusal report.Refusal, edited []byte) ([]report.Stamp, error)
	// MayRetry returns how a refused delivery may be delivered again.
	MayRetry(refusal report.Refusal) report.MayRetry
	// Replacement makes a change of a document from an edited body.
	Replacement(ctx context.Context, key report.Key, body []byte) (report.Change, error)
}

// Refusal is a refused delivery, or a refused record of one, in an answer.
type Refusal struct {
	Number   int64           `json:"number"`
	At       time.Time       `json:"at"`
	Kind     report.Kind     `json:"kind"` // empty if the path named none
	Method   string          `json:"method"`
	Path     string          `json:"path"`
	Position int             `json:"position"` // of the record in the delivery, from 0; -1 if the whole delivery was refused
	ID       string          `json:"id"`       // empty if unknown
	Reason   string          `json:"reason"`
	Detail   string          `json:"detail"`
	Bytes    int             `json:"bytes"`
	Cut      bool            `json:"cut"`   // more was sent than the body has
	Retry    report.MayRetry `json:"retry"` // how it may be delivered again
	Content                  // not in lists
}

func refusalOf(r report.Refusal, receiver Receiver) Refusal {
	return Refusal{
		Number: r.Seq, At: r.At, Kind: r.Kind, Method: r.Method, Path: r.Path, Position: r.Position, ID: r.ID,
		Reason: r.Reason, Detail: r.Detail, Bytes: r.Bytes, Cut: r.Cut, Retry: receiver.MayRetry(r), Content: contentOf(r.Body),
	}
}

// Redelivered is the answer to refused deliveries that were retried.
type Redelivered struct {
	Deliveries int `json:"deliveries"` // deliveries that are no longer refused
	Accepted   int `json:"accepted"`   // documents
	Overtaken  int `json:"overtaken"`  // documents that have something newer and were left alone
	Refused    int `json:"refused"`    // deliveries that are still refused, and still kept
}

func (d *Redelivered) add(stamps []report.Stamp) {
	d.Deliveries++
	for _, s := range stamps {
		if s.Version == 0 && s.Effect != report.Unknown {
			d.Overtaken++
		} else {
			d.Accepted++
		}
	}
}
