package commit

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"riskdex/report"
)

// Loss is what a journal lacks of what it had acknowledged: the versions after Since, up to
// Until. It is stored in the journal, so copies have it as well, until somebody acknowledges
// it.
type Loss struct {
	Since, Until report.Version
	NoticedAt    int64 // microseconds
}

// Join is both losses, and what is between them. It was noticed when the first was.
func (l Loss) Join(more Loss) Loss {
	switch {
	case l.Until == 0:
		return more
	case more.Until == 0:
		return l
	}
	return Loss{min(l.Since, more.Since), max(l.Until, more.Until), min(l.NoticedAt, more.NoticedAt)}
}

// Report is the loss as the interface has it.
func (l Loss) Report() report.Loss {
	r := report.Loss{}
	if l.Until == 0 {
		return r
	}
	if l.Since > 0 {
		r.Since = FromMicro(int64(l.Since))
	}
	r.Until, r.Noticed = FromMicro(int64(l.Until)), FromMicro(l.NoticedAt)
	return r
}

// LossColumns are the columns of a loss, for [Loss.ScanTargets]. The table loss has one row at
// most; without one they are zeros.
const LossColumns = `coalesce((SELECT since FROM loss), 0), coalesce((SELECT until FROM loss), 0), coalesce((SELECT noticed_at FROM loss), 0)`

// ScanTargets are what LossColumns are scanned into.
func (l *Loss) ScanTargets() []any {
	return []any{(*int64)(&l.Since), (*int64)(&l.Until), &l.NoticedAt}
}

// IsLost tells in a statement whether a version that the journal gave out of a document, the row given,
// is lost: it has an older one, or none and has dropped no tombstone as new. What is already noted as a
// loss, or was acknowledged, is no news.
const IsLost = `coalesce((SELECT version FROM documents WHERE kind = given.kind AND id = given.id),
		(SELECT max(dropped_version) FROM totals WHERE kind = given.kind), 0) < given.version
	AND NOT EXISTS (SELECT 1 FROM loss WHERE since < given.version AND given.version <= until)
	AND NOT EXISTS (SELECT 1 FROM ids WHERE CASE WHEN name LIKE '` + NotePrefix + report.LossNotes + `%'
		THEN CAST(value AS bigint) < given.version AND given.version <= CAST(substr(name, length('` + NotePrefix + report.LossNotes + `') + 1) AS bigint) ELSE false END)`

// LostUntilQuery is the statement of both engines for the highest version that was ever lost,
// acknowledged or not.
const LostUntilQuery = `SELECT coalesce(max(until), 0) FROM (SELECT until FROM loss UNION ALL
	SELECT CAST(substr(name, length('` + NotePrefix + report.LossNotes + `') + 1) AS bigint) FROM ids WHERE name LIKE '` + NotePrefix + report.LossNotes + `%') AS lost`

// KeepLoss notes a loss, joined with the one that is known: another process may be noting one, too.
const KeepLoss = `INSERT INTO loss (one, since, until, noticed_at) VALUES (true, $1, $2, $3) ON CONFLICT (one) DO UPDATE SET
	since = CASE WHEN excluded.since < loss.since THEN excluded.since ELSE loss.since END,
	until = CASE WHEN excluded.until > loss.until THEN excluded.until ELSE loss.until END`

// HeldUntil is the version up to which nothing is given out, in a statement: that of a loss.
const HeldUntil = `coalesce((SELECT until FROM loss), 0)`

// FeedName is the name of the id of the feed, among the ids. It changes when a loss is acknowledged:
// until then no feed begins, and none goes on.
const FeedName = "feed"

// CheckGiven implements Journal. What is lost stays lost, whatever is delivered until it is noted. Versions
// that no journal could have given out are those of somebody else.
func (j *Requests) CheckGiven(ctx context.Context, given []report.Stamp) error {
	now := j.opt.Now()
	given = slices.DeleteFunc(slices.Clone(given), func(s report.Stamp) bool { return !s.Version.InReach(now) })
	lost, err := j.hooks.Lost(ctx, given)
	if err == nil && len(lost) > 0 {
		err = j.queue.Do(ctx, &Request{Task: lostVersions(lost), Sync: true})
	}
	if err != nil {
		return fmt.Errorf("compare the journal with %d versions that it gave out: %w", len(given), err)
	}
	return nil
}

// lostVersions is the task of CheckGiven: to note that they are lost.
type lostVersions []report.Version

// Execute implements Task.
func (t lostVersions) Execute(tx *Transaction) error { return tx.NoteLost(t) }

// NoteLost notes that versions are lost which the journal gave out: it was set back to a state
// before them.
func (tx *Transaction) NoteLost(lost []report.Version) error {
	since := report.Version(0)
	for _, kind := range report.Kinds() {
		var v report.Version
		if _, err := one(tx.Store, []any{&v}, `SELECT version FROM documents WHERE kind = $1 AND version < $2 ORDER BY version DESC LIMIT 1`, string(kind), int64(slices.Min(lost))); err != nil {
			return fmt.Errorf("find what the journal was set back to: %w", err)
		}
		since = max(since, v)
	}
	return tx.AddLoss(Loss{Since: since, Until: slices.Max(lost), NoticedAt: tx.Now.UnixMicro()})
}

// AddLoss notes a loss, beside the one that is known, which alone was told: a copy of the journal that
// goes on shows more with each comparison. All later versions are above what is lost.
func (tx *Transaction) AddLoss(found Loss) error {
	known, err := tx.loss()
	if err == nil {
		_, err = tx.Store.NextVersion(found.Until)
	}
	if err == nil {
		_, err = tx.Store.Exec(KeepLoss, int64(found.Since), int64(found.Until), found.NoticedAt)
	}
	if err != nil {
		return fmt.Errorf("note that changes are missing: %w", err)
	}
	tx.ledger.Loss = tx.ledger.Loss.Join(found)
	if known.Until == 0 {
		tx.lost = found
	}
	return nil
}

// loss returns the loss that nobody has acknowledged, or none.
func (tx *Transaction) loss() (l Loss, err error) {
	_, err = one(tx.Store, l.ScanTargets(), `SELECT `+LossColumns)
	return l, err
}

// checkHeld returns report.ErrLossOpen if a version is one that a loss holds back: nobody knows what
// came after it.
func (tx *Transaction) checkHeld(v report.Version) error {
	l, err := tx.loss()
	if err == nil && l.Until > 0 && v <= l.Until {
		err = fmt.Errorf("%w: changes that were acknowledged %s may be missing", report.ErrLossOpen, l.Report().Span())
	}
	return err
}

// AcknowledgeLoss implements Journal. A note remains, for what was lost is not there again. What was
// held back can be claimed, and whoever follows the feed begins anew: what it told may not be true any
// more.
func (j *Requests) AcknowledgeLoss(ctx context.Context) (report.Loss, error) {
	var t acknowledgement
	if err := j.queue.Do(ctx, &Request{Task: &t, Sync: true}); err != nil {
		return report.Loss{}, fmt.Errorf("acknowledge a loss of the journal: %w", err)
	}
	return t.loss.Report(), nil
}

// acknowledgement is the task of AcknowledgeLoss.
type acknowledgement struct{ loss Loss }

// Execute implements Task.
func (t *acknowledgement) Execute(tx *Transaction) error {
	found, err := one(tx.Store, t.loss.ScanTargets(), `DELETE FROM loss RETURNING since, until, noticed_at`)
	if err == nil && !found {
		err = report.ErrNotFound
	}
	if err != nil {
		return err
	}
	tx.ledger.Loss, tx.Wake, tx.ByKind = Loss{}, true, true
	for _, k := range report.AllKinds() {
		tx.Kinds[k] = struct{}{}
	}
	if err := tx.note(FeedName, rand.Text()); err != nil {
		return err
	}
	return tx.note(NotePrefix+report.AcknowledgedLossNote(t.loss.Report()), report.NoteOfLoss(t.loss.Report()))
}

// FromMicro is a time in microseconds.
func FromMicro(at int64) time.Time { return time.UnixMicro(at).UTC() }
