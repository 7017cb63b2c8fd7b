package journal

import (
	"context"
	"iter"
	"time"

	"riskdex/report"
)

// copySource is a journal that nobody changes while it is open. Its streams are read
// one after the other, each to its end or to its first error, which names what could
// not be read.
type copySource interface {
	head(ctx context.Context) (copyHead, error)
	// documents come in the order of cmpKeys, refusals in that of their numbers, and
	// receipts in that of their senders and ids.
	documents(ctx context.Context) iter.Seq2[copyDocument, error]
	refusals(ctx context.Context) iter.Seq2[copyRefusal, error]
	receipts(ctx context.Context) iter.Seq2[copyReceipt, error]
	close() error
}

// copyTarget is a journal in the making.
type copyTarget interface {
	// write returns the errors of the streams as they are.
	write(ctx context.Context, head copyHead, documents iter.Seq2[copyDocument, error],
		refusals iter.Seq2[copyRefusal, error], receipts iter.Seq2[copyReceipt, error]) error
	// reader reads what was written. It is closed before publish.
	reader(ctx context.Context) (copySource, error)
	// publish makes a journal of it, durably.
	publish(ctx context.Context) error
	// close leaves nothing behind of what was not published.
	close() error
}

// copyHead is what a journal has besides its records.
type copyHead struct {
	line        string
	documents   int64 // how many there are
	totals      map[report.Kind]totals
	last        report.Version // the highest ever given out
	lastRefusal int64          // the highest number ever given to one
	loss        loss
}

// copyDocument is the row of a document.
type copyDocument struct {
	report.Change // without what says how it was addressed
	naming
	origin            report.Version // 0 is its version
	state             int64
	waitedAt, endedAt int64 // microseconds
	crc               int64 // as it is, whether it fits or not
	errorType, reason string
}

func (d *copyDocument) intact() bool { return checksum(d.Change) == uint32(d.crc) }

func (d *copyDocument) fields() ([]int64, []string, []byte) {
	alone := int64(0)
	if d.alone {
		alone = 1
	}
	return []int64{int64(d.Version), int64(d.origin), d.state, d.AcceptedAt.UnixMicro(), d.waitedAt, d.endedAt, d.crc, int64(d.kept), alone},
		[]string{string(d.Kind), string(d.ID), string(d.Op), d.Code, d.Trace, d.errorType, d.reason}, d.Body
}

// copyRefusal is the row of a refusal.
type copyRefusal struct {
	report.Refusal
	turn report.Version
	size int64 // as it counts for the bounds
	crc  int64
}

func (r *copyRefusal) fields() ([]int64, []string, []byte) {
	cut := int64(0)
	if r.Cut {
		cut = 1
	}
	return []int64{r.Seq, int64(r.turn), r.At.UnixMicro(), r.size, int64(r.Position), cut, r.crc},
		[]string{string(r.Kind), r.Method, r.Path, r.ID, r.Reason, r.Detail}, r.Body
}

// copyReceipt is the row of a receipt.
type copyReceipt struct {
	report.Receipt
	at int64 // microseconds
}

func (r *copyReceipt) fields() ([]int64, []string, []byte) {
	return []int64{r.at}, []string{r.Sender, r.ID, string(r.Digest)}, r.Answer
}

func fromMicro(at int64) time.Time { return time.UnixMicro(at).UTC() }
