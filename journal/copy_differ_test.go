package journal

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"riskdex/report"
)

// tampering is a target that does not write what it is told to.
type tampering struct {
	copyTarget
	head     func(*copyHead)
	document func(*copyDocument) bool // false leaves it out
	refusal  func(*copyRefusal) bool
	receipt  func(*copyReceipt) bool
}

func (t *tampering) write(ctx context.Context, head copyHead, documents iter.Seq2[copyDocument, error],
	refusals iter.Seq2[copyRefusal, error], receipts iter.Seq2[copyReceipt, error]) error {
	if t.head != nil {
		t.head(&head)
	}
	return t.copyTarget.write(ctx, head, tamper(documents, t.document), tamper(refusals, t.refusal), tamper(receipts, t.receipt))
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

// TestCopyThatDiffers has each part of a copy be another one. It is noticed, and not kept.
func TestCopyThatDiffers(t *testing.T) {
	on := func(f func(*copyDocument)) func(*copyDocument) bool {
		return func(d *copyDocument) bool {
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
			"a document that is lost": {tampering{document: func(d *copyDocument) bool { return d.ID != "130" }}, "documents of"},
			"version":                 {tampering{document: on(func(d *copyDocument) { d.Version++ })}, "documents have another checksum"},
			"origin":                  {tampering{document: on(func(d *copyDocument) { d.origin = 5 })}, "documents have another checksum"},
			"state":                   {tampering{document: on(func(d *copyDocument) { d.state = done })}, "documents have another checksum"},
			"op":                      {tampering{document: on(func(d *copyDocument) { d.Op = report.Delete })}, "documents have another checksum"},
			"code":                    {tampering{document: on(func(d *copyDocument) { d.Code = "PAR" })}, "documents have another checksum"},
			"since when it waits":     {tampering{document: on(func(d *copyDocument) { d.waitedAt++ })}, "documents have another checksum"},
			"when it ended":           {tampering{document: on(func(d *copyDocument) { d.endedAt++ })}, "documents have another checksum"},
			"when it was accepted":    {tampering{document: on(func(d *copyDocument) { d.AcceptedAt = d.AcceptedAt.Add(1000) })}, "documents have another checksum"},
			"crc":                     {tampering{document: on(func(d *copyDocument) { d.crc++ })}, "documents have another checksum"},
			"trace":                   {tampering{document: on(func(d *copyDocument) { d.Trace = "" })}, "documents have another checksum"},
			"error type":              {tampering{document: on(func(d *copyDocument) { d.errorType = "x" })}, "documents have another checksum"},
			"reason":                  {tampering{document: on(func(d *copyDocument) { d.reason = "x" })}, "documents have another checksum"},
			"body": {tampering{document: on(func(d *copyDocument) {
				d.Body = slices.Clone(d.Body)
				d.Body[0] ^= 1
			})}, "documents have another checksum"},
			"a refusal that is lost":  {tampering{refusal: func(*copyRefusal) bool { return false }}, "0 refusals of 2"},
			"the place of a refusal":  {tampering{refusal: func(r *copyRefusal) bool { r.turn++; return true }}, "refusals have another checksum"},
			"the number of a refusal": {tampering{refusal: func(r *copyRefusal) bool { r.Seq += 10; return true }}, "refusals have another checksum"},
			"the line":                {tampering{head: func(h *copyHead) { h.line = newLine() }}, "another line"},
			"a receipt that is lost":  {tampering{receipt: func(*copyReceipt) bool { return false }}, "0 receipts of 1"},
			"the answer":              {tampering{receipt: func(r *copyReceipt) bool { r.Answer = []byte("x"); return true }}, "receipts have another checksum"},
			"totals": {tampering{head: func(h *copyHead) {
				all := map[report.Kind]totals{}
				for k, v := range h.totals {
					v.superseded++
					all[k] = v
				}
				h.totals = all
			}}, "the totals are"},
			"last version": {tampering{head: func(h *copyHead) { h.last-- }}, "a second time"},
			"last refusal": {tampering{head: func(h *copyHead) { h.lastRefusal-- }}, "a second time"},
		} {
			t.Run(engine+", "+name, func(t *testing.T) {
				to := where(t)
				source, err := openCopySource(t.Context(), from)
				if err != nil {
					t.Fatal(err)
				}
				defer source.close()
				if c.copyTarget, err = openCopyTarget(t.Context(), to); err != nil {
					t.Fatal(err)
				}
				_, err = copyAll(t.Context(), source, &c.tampering, func(CopyProgress) {})
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "check the copy") {
					t.Errorf("%v, want that %s", err, c.want)
				}
				if err := c.close(); err != nil {
					t.Error(err)
				}
				nothingAt(t, to)
			})
		}
	}
}
