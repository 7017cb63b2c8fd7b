package admin

import (
	"context"
	"time"

	"riskdex/report"
)

// DeadLetters is what the calls on dead letters need of the journal.
type DeadLetters interface {
	// DeadLetters returns up to limit dead letters of kind whose ids come after the given one,
	// sorted by id, without bodies.
	DeadLetters(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.DeadLetter, error)
	// DeadLetter returns the dead letter of a document with its body.
	DeadLetter(ctx context.Context, key report.Key) (report.DeadLetter, error)
	// RetryDead accepts dead letters once more, except those that are damaged or are no longer
	// the newest version of their document. It returns how many it accepted.
	RetryDead(ctx context.Context, letters []report.Stamp) (int, error)
	// ReplaceDead accepts c in place of a dead letter.
	ReplaceDead(ctx context.Context, letter report.Stamp, c report.Change) (report.Stamp, error)
	// DropDead gives up dead letters, and returns how many.
	DropDead(ctx context.Context, letters []report.Stamp) (int, error)
}

// DeadLetter is a dead letter in an answer.
type DeadLetter struct {
	Kind       report.Kind    `json:"kind"`
	ID         report.ID      `json:"id"`
	Version    report.Version `json:"version"`
	Op         report.Op      `json:"op"`
	AcceptedAt time.Time      `json:"accepted_at"`
	DeadAt     time.Time      `json:"dead_at"`
	ErrorType  string         `json:"error_type"`
	Reason     string         `json:"reason"`
	Bytes      int            `json:"bytes"`
	Content                   // not in lists
}

// Damaged reports whether its record in the journal is damaged, so that only its publisher has it.
func (l DeadLetter) Damaged() bool { return l.ErrorType == report.ErrorTypeDamaged }

func letterOf(l report.DeadLetter) DeadLetter {
	return DeadLetter{
		Kind: l.Kind, ID: l.ID, Version: l.Version, Op: l.Op, AcceptedAt: l.AcceptedAt, DeadAt: l.DeadAt,
		ErrorType: l.ErrorType, Reason: l.Reason, Bytes: l.Bytes, Content: contentOf(l.Body),
	}
}

// Replaced is the answer to a dead letter that was retried with an edited body.
type Replaced struct {
	Version report.Version `json:"version"` // of the new change
}

// Ended is the answer to dead letters that were retried or dropped.
type Ended struct {
	Done    int `json:"done"`
	Skipped int `json:"skipped"` // a newer delivery came in between, or a retried one is damaged
}
