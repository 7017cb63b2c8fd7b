package transfer

import (
	"context"
	"iter"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Source is a journal that nobody changes while it is open. Its streams are read one after
// the other, each to its end or to its first error, which names what could not be read.
type Source interface {
	Head(ctx context.Context) (Head, error)
	// Documents come in the order of CompareKeys, refusals in that of their numbers, and
	// receipts in that of their senders and ids, and the history in that of its versions.
	Documents(ctx context.Context) iter.Seq2[Document, error]
	Refusals(ctx context.Context) iter.Seq2[Refusal, error]
	Receipts(ctx context.Context) iter.Seq2[Receipt, error]
	History(ctx context.Context) iter.Seq2[Past, error]
	Close() error
}

// Target is a journal in the making.
type Target interface {
	// Write writes everything. It returns the errors of the streams unchanged.
	Write(ctx context.Context, head Head, documents iter.Seq2[Document, error],
		refusals iter.Seq2[Refusal, error], receipts iter.Seq2[Receipt, error], history iter.Seq2[Past, error]) error
	// Reader reads what was written. It is closed before publish.
	Reader(ctx context.Context) (Source, error)
	// Publish turns the target into a journal, durably.
	Publish(ctx context.Context) error
	// Close removes everything that was not published.
	Close() error
}

// Head is what a journal has besides its records.
type Head struct {
	Line        string
	Documents   int64 // how many there are
	Totals      map[report.Kind]commit.Totals
	Last        report.Version // the highest ever given out
	LastRefusal int64          // the highest number ever given to one
	Loss        commit.Loss
	Notes       map[string]string
}

// Document is the row of a document.
type Document struct {
	report.Change // without OwnID, ExactID and NoCode, which say how it was addressed
	commit.Naming
	Origin            report.Version // 0 where it is the same as its version
	State             int64
	WaitedAt, EndedAt int64 // microseconds
	CRC               int64 // as stored, whether it fits or not
	ErrorType, Reason string
}

func (d *Document) intact() bool { return commit.Checksum(d.Change) == uint32(d.CRC) }

func (d *Document) fields() ([]int64, []string, []byte) {
	alone := int64(0)
	if d.CodeOnly {
		alone = 1
	}
	return []int64{int64(d.Version), int64(d.Origin), d.State, d.AcceptedAt.UnixMicro(), d.WaitedAt, d.EndedAt, d.CRC, int64(d.Kept), alone},
		[]string{string(d.Kind), string(d.ID), string(d.Op), d.Code, d.Trace, d.ErrorType, d.Reason}, d.Body
}

// Refusal is the row of a refusal.
type Refusal struct {
	report.Refusal
	Place report.Version
	Size  int64 // as it counts for the bounds
	CRC   int64
}

func (r *Refusal) fields() ([]int64, []string, []byte) {
	cut := int64(0)
	if r.Cut {
		cut = 1
	}
	return []int64{r.Seq, int64(r.Place), r.At.UnixMicro(), r.Size, int64(r.Position), cut, r.CRC},
		[]string{string(r.Kind), r.Method, r.Path, r.ID, r.Reason, r.Detail}, r.Body
}

// Receipt is the row of a receipt.
type Receipt struct {
	report.Receipt
	At int64 // microseconds
}

func (r *Receipt) fields() ([]int64, []string, []byte) {
	return []int64{r.At}, []string{r.Sender, r.ID, string(r.Digest)}, r.Answer
}

// Past is a row of the history.
type Past struct {
	commit.HistoryRow
	Body []byte // as it is kept
}

func (r *Past) fields() ([]int64, []string, []byte) {
	o := r.Old
	return []int64{int64(r.Version), r.At, r.Bytes, int64(o.Version), o.At, o.Ended, o.State, o.CRC, o.Bytes, o.Form},
		[]string{string(r.Key.Kind), string(r.Key.ID), string(r.Op), r.Source.Sender, r.Source.Address, r.Source.Call, string(o.Op), o.Code}, r.Body
}

// Records yields the newest record of every document of s that is not deleted, in the order
// of kinds and of the bytes of ids.
func Records(ctx context.Context, s Source) iter.Seq2[report.Record, error] {
	return func(yield func(report.Record, error) bool) {
		for d, err := range s.Documents(ctx) {
			if err == nil && (d.Op != report.Index || d.Kind == report.Probe) {
				continue
			}
			if !yield(commit.RecordOf(d.Change, d.State, d.intact(), int64(d.Kept)), err) || err != nil {
				return
			}
		}
	}
}
