package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// Append implements Journal.
func (j *Requests) Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error) {
	start := time.Now()
	if err := checkDelivery(d); err != nil {
		return nil, err
	}
	quota := quotaOf(d)
	err := j.hooks.CheckQuota(quota)
	if err != nil && j.hooks.CheckQuota(DiskQuota) == nil { // the history may give way
		j.growth.look.Notify()
	}
	t := &delivery{Delivery: d, opt: j.opt, checkQuota: j.hooks.CheckQuota}
	if err == nil {
		n := len(d.Changes) + len(d.Refusals)
		err = j.queue.Do(ctx, &Request{
			Task: t, Gone: d.Gone, Kind: kindOf(d), Keys: keysOf(d), Changes: d.Changes, Versions: n, Bytes: bytesOf(d), Size: n, Sync: true, Quota: quota,
		})
	}
	if err == nil {
		err = t.before
	}
	if err != nil {
		return nil, fmt.Errorf("append a delivery of %d changes to the journal: %w", len(d.Changes), err)
	}
	j.opt.Observe(time.Since(start).Seconds())
	return t.stamps, nil
}

// keysOf returns the documents that a delivery names.
func keysOf(d report.Delivery) []report.Key {
	keys := make([]report.Key, 0, len(d.Changes))
	for _, c := range d.Changes {
		keys = append(keys, c.Key)
		if c.OwnID != "" && c.OwnID != c.ID {
			keys = append(keys, report.Key{Kind: c.Kind, ID: c.OwnID})
		}
	}
	return keys
}

// bytesOf is roughly how much a delivery writes.
func bytesOf(d report.Delivery) (n int) {
	for _, c := range d.Changes {
		n += len(c.Body)
	}
	for _, r := range d.Refusals {
		n += min(len(r.Body), journal.MaxRefusalBody)
	}
	if d.Receipt != nil {
		n += len(d.Receipt.Answer)
	}
	return n
}

// delivery is the task of Append.
type delivery struct {
	report.Delivery
	opt        journal.Options
	checkQuota func(Quota) error

	stamps []report.Stamp
	before error // why it was not accepted: it is a repeat, or there is no room
}

// Execute implements Task. A repeat is not an error of the transaction, which others share.
func (t *delivery) Execute(tx *Transaction) (err error) {
	d := t.Delivery
	if t.before, err = tx.repeats(d); t.before != nil || err != nil {
		return err
	}
	if !d.Above.InReach(tx.Now) {
		return fmt.Errorf("accept changes up to version %d, which no clock gives: the clock of the journal that has told them is wrong", d.Above)
	}
	if err := t.checkQuota(FullQuota); err != nil {
		if d.RetryOf != 0 {
			return err // the refusal that it retries is kept
		}
		d.Refusals = nil // keeping them is a convenience
		if only, notLive := tx.removesOnly(d); notLive != nil || !only {
			t.before = err
			return notLive
		}
	}
	if err := tx.Store.BeginDelivery(len(d.Changes)+len(d.Refusals), d.Above); err != nil {
		return err
	}
	defer tx.Store.EndDelivery()
	if t.stamps, err = tx.Deliver(d, t.opt); err != nil {
		return err
	}
	return tx.receive(d, t.stamps)
}

// Deliver accepts a delivery. Refusals get versions as well, in the order of the records:
// they tell what was accepted before each refusal and what after.
func (tx *Transaction) Deliver(d report.Delivery, opt journal.Options) ([]report.Stamp, error) {
	tx.source = sourceOf(d)
	place, err := tx.beginRetry(d.RetryOf)
	if err != nil {
		return nil, err
	}
	stamps := make([]report.Stamp, 0, len(d.Changes))
	given, next := d.Refusals, 0
	d.Refusals = make([]report.Refusal, 0, len(given))
	places := make([]report.Version, 0, len(given))
	refuse := func(r report.Refusal) (err error) {
		d.Refusals = append(d.Refusals, r)
		places, err = tx.appendPlace(places, place)
		return err
	}
	for i, c := range d.Changes {
		for ; err == nil && next < len(given) && comesBefore(given[next], i+next); next++ {
			err = refuse(given[next])
		}
		if err != nil {
			return nil, err
		}
		s, err := tx.accept(c, place, len(places) > 0)
		if errors.Is(err, report.ErrAmbiguous) && d.Ambiguous != nil {
			err, s = nil, report.Stamp{Key: c.Key, Effect: report.Ambiguous}
			if len(places) < opt.MaxDeliveryRefusals {
				err = refuse(d.Ambiguous(i))
			} else {
				d.MoreRefused++
			}
		}
		if err != nil {
			return nil, fmt.Errorf("write %s %q: %w", c.Kind, c.ID, err)
		}
		stamps = append(stamps, s)
	}
	for _, r := range given[next:] {
		if err := refuse(r); err != nil {
			return nil, err
		}
	}
	tx.Delivered = append(tx.Delivered, stamps)
	return stamps, tx.refuse(d, places, opt)
}

// comesBefore reports whether a refused record stands before the record at a position
// of the delivery.
func comesBefore(r report.Refusal, position int) bool {
	return r.Position >= 0 && r.Position <= position
}

// accept writes a change and clears the refusals that it makes obsolete. place is
// the version of the refusal that this retries, or 0. refused says that the delivery has
// refusals before it. A change that would overtake something newer is left out, and so is a
// delete of what is not there, unless it has to be remembered.
func (tx *Transaction) accept(c report.Change, place report.Version, refused bool) (report.Stamp, error) {
	addressed := c.ID
	tx.adopted = 0
	key, old, err := tx.resolve(c)
	if err != nil {
		return report.Stamp{}, err
	}
	if may, there, err := tx.mayChange(c, old); err != nil || !may {
		effect := report.Outdated
		if !there && c.Op == report.Delete { // it may have been repeated
			effect = report.Unknown
		}
		return report.Stamp{Key: key, Effect: effect}, err
	}
	if c.Identity != nil {
		return tx.mirror(c, old)
	}
	if lost, err := tx.mayNameLost(c, old); err != nil || lost {
		return report.Stamp{}, cmp.Or(err, report.ErrAmbiguous)
	}
	if c.ExactID {
		place = BeforeAll
	}
	if place != 0 && old != nil && old.place() > place {
		return report.Stamp{Key: key}, nil
	}
	if c.Op == report.Delete && c.ExactID { // nobody delivered it: it removes what the journal does not know
		if err := tx.checkHeld(BeforeAll); err != nil {
			return report.Stamp{}, err
		}
	}
	c.Key = key
	effect := report.Changed
	if c.Op == report.Delete && !c.ExactID && isDeleted(old) {
		effect = report.Unknown
		if !refused {
			remembered, err := tx.remember(c, addressed, old)
			if err != nil || !remembered {
				return report.Stamp{Key: key, Effect: effect}, err
			}
		}
	}
	n, stale, err := tx.nameCity(&c, addressed, old, place)
	if err != nil || stale {
		return report.Stamp{Key: key}, err
	}
	if err := tx.putAt(&c, n, old, place); err != nil {
		return report.Stamp{}, err
	}
	if place == 0 {
		place = c.Version
	}
	return report.Stamp{Key: key, Version: c.Version, Effect: effect, Adopted: tx.adopted}, tx.clearRefusals(c, addressed, place)
}

// mayChange reports whether Change.If holds of the document that c names, and whether that is there.
// old is the one that c is for: another, where c adopts the city that it names.
func (tx *Transaction) mayChange(c report.Change, old *Row) (may, there bool, err error) {
	if c.If == nil {
		return true, false, nil
	}
	named, err := tx.Find(c.Key)
	if named == nil || named.Op == report.Delete {
		named = old
	}
	switch {
	case err != nil:
		return false, false, err
	case named == nil || named.Op == report.Delete:
		return c.If(0, time.Time{}), false, nil
	}
	return c.If(named.Version, time.UnixMicro(named.AcceptedAt)), true, nil
}

// isDeleted reports whether there is nothing to delete: no document, or one whose delete is
// done or pending. A delete that Elasticsearch has refused does not count.
func isDeleted(r *Row) bool {
	return r == nil || r.Op == report.Delete && (Waits(r.State) || r.State == StateDone)
}

// mustRemember reports whether a delete of what is not there, and a code that is given up, leave a
// tombstone: while a refused delivery is kept, whose retry could bring the document back, and only
// then.
//
// Refusals of other processes count as well. Their number is read before the rows are, so a
// refusal that is being retried shows either here or by the document that its retry brought.
func (tx *Transaction) mustRemember() bool { return tx.ledger.Refusals > 0 }

// remember reports whether the delete c leaves a tombstone. If it should, but there are too
// many, all kept refusals become unretryable instead. Where the index may have what the journal has
// lost, it always does, and the delete is sent.
func (tx *Transaction) remember(c report.Change, addressed report.ID, old *Row) (bool, error) {
	if may, err := tx.mayBeIndexed(old); err != nil || may {
		return may, err
	}
	if !tx.mustRemember() {
		return false, nil
	}
	if old != nil {
		return true, nil
	}
	var n int64
	_, err := one(tx.Store, []any{&n}, `SELECT CAST(coalesce(sum(tombstones), 0) AS bigint) FROM totals WHERE kind = $1`, string(c.Kind))
	if n += tx.ledger.Totals[c.Kind].Tombstones; err != nil || n < journal.MaxRemembered {
		return true, err
	}
	if err = tx.forgetPlaces(math.MaxInt64); err == nil {
		err = tx.clearRefusals(c, addressed, BeforeAll+1)
	}
	return false, err
}

// mayBeIndexed reports whether the index may have a document that the journal lacks: the journal was
// set back, and has not deleted the document since. That it was acknowledged does not end this: the
// index still has what nobody delivered again.
func (tx *Transaction) mayBeIndexed(r *Row) (bool, error) {
	var until report.Version
	_, err := one(tx.Store, []any{&until}, LostUntilQuery)
	return until > 0 && (r == nil || r.Version <= until), err
}

// mirror accepts c with the identity that another journal knows the document by. There, no other city
// keeps the code that it has, nor was deleted with it.
func (tx *Transaction) mirror(c report.Change, old *Row) (report.Stamp, error) {
	_, err := tx.takeCode(c, report.Naming{CodeOnly: true}, 0)
	if err == nil {
		err = tx.putAt(&c, c.Identity.Naming, old, c.Identity.Place)
	}
	if err == nil {
		err = tx.clearRefusals(c, c.ID, c.Version)
	}
	return report.Stamp{Key: c.Key, Version: c.Version}, err
}

// mayNameLost reports whether c deletes by a code that no city has, as far as the journal knows, and
// that a city may have which it has lost with its id. Once somebody has acknowledged the loss, that is
// decided.
func (tx *Transaction) mayNameLost(c report.Change, old *Row) (bool, error) {
	if c.Op != report.Delete || c.Kind != report.Cities || c.ExactID || report.CodeOf(string(c.ID)) == "" || !isDeleted(old) {
		return false, nil
	}
	l, err := tx.loss()
	return err == nil && l.Until > 0 && (old == nil || old.Version <= l.Until), err
}

// forgetPlaces is called before deletes up to a version are no longer remembered: a retry of a
// refusal from before them could bring back what they deleted.
func (tx *Transaction) forgetPlaces(until report.Version) error {
	n, err := tx.Store.Exec(`UPDATE refusals SET version = $1
		WHERE seq IN (SELECT seq FROM refusals WHERE version <> $1 AND version <= $2)`, int64(BeforeAll), int64(until))
	tx.displaced += n
	kept := 0
	if err == nil {
		_, err = one(tx.Store, []any{&kept}, `SELECT count(*) FROM refusals`)
	}
	if err == nil && kept != tx.ledger.Refusals { // a retry may have brought a document back meanwhile
		err = ErrMeanwhile
	}
	return err
}

// Warn logs what somebody should know of. It is called once the transaction is committed.
func (tx *Transaction) Warn(log *slog.Logger) {
	if tx.lost.Until > 0 {
		log.Error("the journal lacks changes that it had acknowledged " + tx.lost.Report().Span() + ": it is damaged, was set back to an older state, or a copy of it runs beside it; " +
			"what it has from before is not sent until somebody has decided: ask the publisher to deliver again what it sent in that time, then: riskdex journal acknowledge-loss")
	}
	if tx.displaced > 0 {
		log.Warn("refused deliveries that are kept cannot be retried any more: the journal has dropped tombstones of deletes that came after them, "+
			"so a retry could bring back what was deleted; have them delivered again, then drop them", "refusals", tx.displaced)
	}
}

// putAt is put of a change that has a place in the order of deliveries; 0 is the newest.
func (tx *Transaction) putAt(c *report.Change, n report.Naming, old *Row, place report.Version) error {
	return tx.put(c, n, retryOrigin(place), old)
}

// put writes a change over the row that its document has, if any, and gives it
// its version. A document that is pending already keeps the time since when it waits.
func (tx *Transaction) put(c *report.Change, n report.Naming, origin report.Version, old *Row) (err error) {
	if c.Version, err = tx.Store.NextVersion(0); err != nil {
		return err
	}
	c.AcceptedAt = tx.Now
	tx.keepPast(*c, old)
	waiting := tx.Now.UnixMicro()
	if old != nil && old.State == StatePending {
		waiting = old.WaitedAt
	}
	tx.ledger.Update(c.Kind, func(t *Totals) {
		if old != nil {
			t.leave(old.State)
		}
		t.accept(c.Op)
		t.count(*c, old)
	})
	tx.touch(c.Key, true)
	tx.Wake = true
	if old == nil {
		old = &Row{Key: c.Key, Fresh: true}
		tx.known[c.Key] = old
	}
	old.accept(*c, n, origin, waiting)
	tx.change(old)
	return nil
}
