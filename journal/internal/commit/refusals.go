package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"riskdex/journal"
	"riskdex/report"
)

// maxRefusalText bounds each text of a refusal that is kept, in bytes.
const maxRefusalText = 8 << 10

func clipRefusal(r report.Refusal) report.Refusal {
	for _, s := range []*string{&r.Method, &r.Path, &r.ID, &r.Reason, &r.Detail} {
		*s = clip(*s, maxRefusalText)
	}
	r.Cut = r.Cut || len(r.Body) > journal.MaxRefusalBody
	r.Body = r.Body[:min(len(r.Body), journal.MaxRefusalBody)]
	return r
}

// clip returns at most n bytes of s, without half a character at its end.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// RefusalBytes is about what a refusal takes on disk.
func RefusalBytes(r report.Refusal) int64 {
	return int64(64 + len(r.Kind) + len(r.Method) + len(r.Path) + len(r.ID) + len(r.Reason) + len(r.Detail) + len(r.Body))
}

func (l *Ledger) tooManyRefusals(opt journal.Options) bool {
	return l.Refusals > opt.MaxRefusals || l.RefusalBytes > opt.MaxRefusalBytes
}

// appendPlace appends the place of a refusal in the order of all deliveries: that of
// the refusal which is being retried, if any, and otherwise the next.
func (tx *Transaction) appendPlace(places []report.Version, place report.Version) (_ []report.Version, err error) {
	if place == 0 {
		place, err = tx.Store.NextVersion(0)
	}
	return append(places, place), err
}

// KeepRefusal is the statement of both engines that keeps a refusal.
const KeepRefusal = `INSERT INTO refusals (version, at, bytes, kind, method, path, position, id, folded, reason, detail, cut, crc, body)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

// refuse keeps the refusals of a delivery, each with its place, and drops the oldest of
// all beyond the bounds.
func (tx *Transaction) refuse(d report.Delivery, places []report.Version, opt journal.Options) error {
	for i, r := range shareOf(d, opt) {
		size := RefusalBytes(r)
		if _, err := tx.Store.Exec(KeepRefusal, int64(places[i]), r.At.UnixMicro(), size, string(r.Kind), Text(r.Method), Text(r.Path), int64(r.Position), Text(r.ID), Text(Fold(r.ID)),
			Text(r.Reason), Text(r.Detail), r.Cut, int64(RefusalChecksum(r)), r.Body); err != nil {
			return fmt.Errorf("keep a refusal: %w", err)
		}
		tx.ledger.Refusals++
		tx.ledger.RefusalBytes += size
	}
	return tx.dropOldestRefusals(opt)
}

// shareOf returns the refusals of a delivery that are kept: the first ones, within the
// bounds of one delivery. The last of them says how many are not kept.
func shareOf(d report.Delivery, opt journal.Options) []report.Refusal {
	var kept []report.Refusal
	bytes := int64(0)
	for _, r := range d.Refusals[:min(len(d.Refusals), opt.MaxDeliveryRefusals)] {
		r = clipRefusal(r)
		if bytes += RefusalBytes(r); bytes > opt.MaxRefusalBytes/10 && len(kept) > 0 {
			break
		}
		kept = append(kept, r)
	}
	if more := len(d.Refusals) - len(kept) + d.MoreRefused; more > 0 && len(kept) > 0 {
		last := &kept[len(kept)-1]
		last.Detail = clip(last.Detail, maxRefusalText/2) + fmt.Sprintf(" (%d more records of this delivery were refused, and are not kept.)", more)
	}
	return kept
}

// dropOldestRefusals drops refusals until the rest is within the bounds.
func (tx *Transaction) dropOldestRefusals(opt journal.Options) error {
	if !tx.ledger.tooManyRefusals(opt) {
		return nil
	}
	var last, size int64
	left := *tx.ledger
	err := tx.Store.Query(func(scan func(...any) error) error {
		if !left.tooManyRefusals(opt) {
			return ErrEnough
		}
		err := scan(&last, &size)
		left.Refusals--
		left.RefusalBytes -= size
		return err
	}, `SELECT seq, bytes FROM refusals ORDER BY seq`)
	if err == nil {
		err = tx.Store.Query(func(scan func(...any) error) error {
			err := scan(&size)
			tx.ledger.Refusals--
			tx.ledger.RefusalBytes -= size
			return err
		}, `DELETE FROM refusals WHERE seq <= $1 RETURNING bytes`, last)
	}
	if err != nil {
		return fmt.Errorf("drop the oldest refusals: %w", err)
	}
	return nil
}

// beginRetry drops the refusal that a delivery retries and returns its place, or
// ErrNotFound. For other deliveries it does nothing and returns 0.
func (tx *Transaction) beginRetry(seq int64) (report.Version, error) {
	if seq == 0 {
		return 0, nil
	}
	place, err := tx.dropRefusal(seq)
	if err == nil && place == BeforeAll {
		err = report.ErrPlaceForgotten
	}
	if err == nil {
		err = tx.checkHeld(place)
	}
	if err != nil {
		return 0, fmt.Errorf("retry the refusal %d: %w", seq, err)
	}
	return place, nil
}

// dropRefusal forgets one refusal and returns its place, or ErrNotFound.
func (tx *Transaction) dropRefusal(seq int64) (report.Version, error) {
	var place, size int64
	found, err := one(tx.Store, []any{&place, &size}, `DELETE FROM refusals WHERE seq = $1 RETURNING version, bytes`, seq)
	if err == nil && !found {
		err = report.ErrNotFound
	}
	if err != nil {
		return 0, err
	}
	tx.ledger.Refusals--
	tx.ledger.RefusalBytes -= size
	return report.Version(place), nil
}

// DropRefusals implements Journal.
func (j *Requests) DropRefusals(ctx context.Context, seqs []int64) (sum int, err error) {
	for chunk := range slices.Chunk(seqs, MaxBatch) {
		t := &DropRefusals{Seqs: chunk}
		if err := j.queue.Do(ctx, &Request{Task: t, Sync: true}); err != nil {
			return sum, fmt.Errorf("drop %d refusals from the journal: %w", len(seqs), err)
		}
		sum += t.found
	}
	return sum, nil
}

// DropRefusals is the task of dropping refusals.
type DropRefusals struct {
	Seqs []int64

	found int
}

// Execute implements Task.
func (t *DropRefusals) Execute(tx *Transaction) error {
	t.found = 0
	for _, seq := range t.Seqs {
		_, err := tx.dropRefusal(seq)
		switch {
		case err == nil:
			t.found++
		case !errors.Is(err, report.ErrNotFound):
			return err
		}
	}
	return nil
}

// LostBody is added to the detail of a refusal whose checksum does not fit.
const LostBody = " (its record in the journal is damaged: its checksum does not fit, and its body is lost)"
