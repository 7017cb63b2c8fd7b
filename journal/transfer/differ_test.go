package transfer_test

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"riskdex/journal/internal/commit"
	"riskdex/journal/transfer"
	"riskdex/report"
)

// tampering is a target that writes something else than it is told to.
type tampering struct {
	transfer.Target
	head     func(*transfer.Head)
	document func(*transfer.Document) bool // false leaves it out
	refusal  func(*transfer.Refusal) bool
	receipt  func(*transfer.Receipt) bool
	past     func(*transfer.Past) bool
}

func (t *tampering) Write(ctx context.Context, head transfer.Head, documents iter.Seq2[transfer.Document, error],
	refusals iter.Seq2[transfer.Refusal, error], receipts iter.Seq2[transfer.Receipt, error], history iter.Seq2[transfer.Past, error]) error {
	if t.head != nil {
		t.head(&head)
	}
	return t.Target.Write(ctx, head, tamper(documents, t.document), tamper(refusals, t.refusal), tamper(receipts, t.receipt), tamper(history, t.past))
}

func tamper[T any](records iter.Seq2[T, error], change func(*T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for r, err := range records {
			if err == nil && change != nil && !change(&r) {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// TestCopyThatDiffers: whichever part of a copy differs, it is noticed, and the copy is
// not kept.
func TestCopyThatDiffers(t *testing.T) {
	on := func(f func(*transfer.Document)) func(*transfer.Document) bool {
		return func(d *transfer.Document) bool {
			if d.ID == "130" && d.Kind == report.Cities {
				f(d)
			}
			return true
		}
	}
	from := filled(t, filepath.Join(t.TempDir(), "journal.db"))
	for engine, where := range engines() {
		for name, c := range map[string]struct {
			tampering
			want string
		}{
			"a document that is lost": {tampering{document: func(d *transfer.Document) bool { return d.ID != "130" }}, "documents of"},
			"version":                 {tampering{document: on(func(d *transfer.Document) { d.Version++ })}, "documents have another checksum"},
			"origin":                  {tampering{document: on(func(d *transfer.Document) { d.Origin = 5 })}, "documents have another checksum"},
			"state":                   {tampering{document: on(func(d *transfer.Document) { d.State = commit.StateDone })}, "documents have another checksum"},
			"op":                      {tampering{document: on(func(d *transfer.Document) { d.Op = report.Delete })}, "documents have another checksum"},
			"code":                    {tampering{document: on(func(d *transfer.Document) { d.Code = "PAR" })}, "documents have another checksum"},
			"since when it waits":     {tampering{document: on(func(d *transfer.Document) { d.WaitedAt++ })}, "documents have another checksum"},
			"when it ended":           {tampering{document: on(func(d *transfer.Document) { d.EndedAt++ })}, "documents have another checksum"},
			"when it was accepted":    {tampering{document: on(func(d *transfer.Document) { d.AcceptedAt = d.AcceptedAt.Add(1000) })}, "documents have another checksum"},
			"crc":                     {tampering{document: on(func(d *transfer.Document) { d.CRC++ })}, "documents have another checksum"},
			"trace":                   {tampering{document: on(func(d *transfer.Document) { d.Trace = "" })}, "documents have another checksum"},
			"error type":              {tampering{document: on(func(d *transfer.Document) { d.ErrorType = "x" })}, "documents have another checksum"},
			"reason":                  {tampering{document: on(func(d *transfer.Document) { d.Reason = "x" })}, "documents have another checksum"},
			"body": {tampering{document: on(func(d *transfer.Document) {
				d.Body = slices.Clone(d.Body)
				d.Body[0] ^= 1
			})}, "documents have another checksum"},
			"a refusal that is lost":  {tampering{refusal: func(*transfer.Refusal) bool { return false }}, "0 refusals of 2"},
			"the place of a refusal":  {tampering{refusal: func(r *transfer.Refusal) bool { r.Place++; return true }}, "refusals have another checksum"},
			"the number of a refusal": {tampering{refusal: func(r *transfer.Refusal) bool { r.Seq += 10; return true }}, "refusals have another checksum"},
			"the line":                {tampering{head: func(h *transfer.Head) { h.Line = "another" }}, "another line"},
			"a receipt that is lost":  {tampering{receipt: func(*transfer.Receipt) bool { return false }}, "0 receipts of 1"},
			"the answer":              {tampering{receipt: func(r *transfer.Receipt) bool { r.Answer = []byte("x"); return true }}, "receipts have another checksum"},
			"a lost part of history":  {tampering{past: func(r *transfer.Past) bool { return r.Old.Version == 0 }}, "entries of the history of"},
			"a sender":                {tampering{past: func(r *transfer.Past) bool { r.Source.Sender += "x"; return true }}, "entries of the history have another checksum"},
			"what was replaced":       {tampering{past: func(r *transfer.Past) bool { r.Old.Ended++; return true }}, "entries of the history have another checksum"},
			"totals": {tampering{head: func(h *transfer.Head) {
				all := map[report.Kind]commit.Totals{}
				for k, v := range h.Totals {
					v.Superseded++
					all[k] = v
				}
				h.Totals = all
			}}, "the totals are"},
			"last version": {tampering{head: func(h *transfer.Head) { h.Last-- }}, "a second time"},
			"last refusal": {tampering{head: func(h *transfer.Head) { h.LastRefusal-- }}, "a second time"},
		} {
			t.Run(engine+", "+name, func(t *testing.T) {
				to := where(t)
				target := endpoint(to)
				target.OpenTarget = func(ctx context.Context) (_ transfer.Target, err error) {
					c.Target, err = endpoint(to).OpenTarget(ctx)
					return &c.tampering, err
				}
				_, err := transfer.Copy(t.Context(), endpoint(from), target, nil)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "check the copy") {
					t.Errorf("error %v, want one with %q", err, c.want)
				}
				nothingAt(t, to)
			})
		}
	}
}
