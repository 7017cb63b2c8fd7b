package tables

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"errors"
	"io"
	"math"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// History implements Journal.
func (r *Reader) History(ctx context.Context, key report.Key, before report.Version, limit int) (list []report.Past, err error) {
	err = r.inPast(ctx, key, func(v view) error {
		found, err := v.versions(key, before, limit)
		for _, l := range found {
			list = append(list, l.Past)
		}
		return err
	})
	return list, err
}

// PastVersion implements Journal.
func (r *Reader) PastVersion(ctx context.Context, key report.Key, version report.Version) (past report.Past, err error) {
	err = r.inPast(ctx, key, func(v view) error {
		past, err = v.pastVersion(key, version)
		return err
	})
	return past, err
}

// PastAt implements Journal.
func (r *Reader) PastAt(ctx context.Context, key report.Key, at time.Time) (past report.Past, err error) {
	err = r.inPast(ctx, key, func(v view) error {
		past, err = v.pastAt(key, at)
		return err
	})
	return past, err
}

// inPast calls f with one state of the journal.
func (r *Reader) inPast(ctx context.Context, k report.Key, f func(view) error) error {
	return r.snapshot(ctx, func(v view) error {
		if err := commit.CheckKey(k); err != nil {
			return err
		}
		return f(v)
	}, "read the history of %s %q in the journal", k.Kind, k.ID)
}

// stored is where the content of a version is: in the row of the version that replaced it, or in documents
// if row is nil.
type stored struct {
	old commit.Replaced
	row *commit.HistoryRow
}

// located is a version with what stores it, which is nil if its content is unknown.
type located struct {
	report.Past
	in *stored
}

// historyPage is how many rows are read at a time if it is unknown how many are needed.
const historyPage = 256

// aboveAll is above the version of every row.
const aboveAll report.Version = math.MaxInt64

// pastVersion returns one version of a document with its body, or report.ErrNotFound.
func (v view) pastVersion(k report.Key, version report.Version) (report.Past, error) {
	if version <= 0 || version == aboveAll {
		return report.Past{}, report.ErrNotFound
	}
	found, err := v.versions(k, version+1, 1)
	for _, l := range found {
		if l.Version == version || l.in != nil && l.in.old.Version == version {
			return v.withBody(l)
		}
	}
	if err == nil {
		err = report.ErrNotFound
	}
	return report.Past{}, err
}

// pastAt returns the version of a document that was the newest at a time, with its body. It
// returns report.ErrNotFound if there was none, and report.ErrHistoryTooShort if the history
// does not go back that far.
func (v view) pastAt(k report.Key, at time.Time) (report.Past, error) {
	t := at.UnixMicro()
	first, err := v.firstAfter(k, t)
	if err != nil {
		return report.Past{}, err
	}
	end := aboveAll
	var was commit.Replaced
	if first != nil {
		end, was = first.Version, first.Old
	} else if was, err = v.current(k); err != nil {
		return report.Past{}, err
	}
	if was.Version != 0 && was.At > t {
		return report.Past{}, report.ErrHistoryTooShort
	}
	found, err := v.versions(k, end, 1)
	switch {
	case err != nil:
		return report.Past{}, err
	case len(found) == 0:
		return report.Past{}, report.ErrNotFound
	case found[0].Gap: // what came after it may have been valid then
		return report.Past{}, report.ErrHistoryTooShort
	}
	return v.withBody(found[0])
}

// firstAfter returns the first row of a change that was accepted after a time. It can search by
// version, since no version is below the time of its acceptance.
func (v view) firstAfter(k report.Key, t int64) (*commit.HistoryRow, error) {
	for after := report.Version(t); ; {
		rows, err := v.after(k, after, historyPage)
		for i := range rows {
			if rows[i].At > t {
				return &rows[i], nil
			}
		}
		if err != nil || len(rows) < historyPage {
			return nil, err
		}
		after = rows[len(rows)-1].Version
	}
}

// versions joins rows with those of the changes that replaced them.
func (v view) versions(k report.Key, before report.Version, limit int) (list []located, err error) {
	rows, err := v.before(k, before, limit)
	if err != nil {
		return nil, err
	}
	above, err := v.storedBefore(k, before)
	if err != nil {
		return nil, err
	}
	shown, unsure, err := v.shownFrom(k, before)
	if err != nil {
		return nil, err
	}
	replaced := above.replacedAt()
	add := func(l located, at *stored) {
		l.Key = k
		if !l.Gap {
			l.ReplacedAt = replaced
		}
		if l.in = at; at != nil {
			l.describe(at.old)
		}
		if l.UntilUnknown = unsure; !unsure {
			l.SearchableUntil = fromMicro(shown)
		}
		switch {
		case !l.SearchableAt.IsZero():
			shown, unsure = l.SearchableAt.UnixMicro(), false
		case at == nil: // nobody knows when the index had it
			unsure = true
		}
		list = append(list, l)
		replaced = l.AcceptedAt
	}
	alone := func() { // a version that was accepted while history was off
		if above.old.Version != 0 && above.old.Version < before {
			add(located{Past: report.Past{Version: above.old.Version}}, above)
		}
	}
	for i := range rows {
		r := &rows[i]
		l := located{Past: report.Past{Version: r.Version, Op: r.Op, AcceptedAt: commit.FromMicro(r.At), Bytes: int(r.Bytes), Source: r.Source, First: r.Old.Version == 0}}
		switch {
		case isOf(above.old, r):
			add(l, above)
		case above.old.Version == 0 && r.Op == report.Delete: // the tombstone was dropped before
			l.State = report.StateSettled
			add(l, nil)
		default:
			alone()
			l.Gap = true
			add(l, nil)
		}
		above = &stored{r.Old, r}
	}
	if len(rows) < limit {
		alone()
	}
	return list, nil
}

func isOf(old commit.Replaced, r *commit.HistoryRow) bool {
	return old.Version >= r.Version && old.At == r.At && old.Op == r.Op
}

func (a *stored) replacedAt() time.Time {
	if a.row == nil {
		return time.Time{}
	}
	return commit.FromMicro(a.row.At)
}

// storedBefore returns what stores the newest version before the given one.
func (v view) storedBefore(k report.Key, before report.Version) (*stored, error) {
	if before != aboveAll {
		next, err := v.after(k, before-1, 1)
		if err != nil || len(next) > 0 {
			return nextStored(next), err
		}
	}
	old, err := v.current(k)
	return &stored{old: old}, err
}

func nextStored(next []commit.HistoryRow) *stored {
	if len(next) == 0 {
		return &stored{}
	}
	return &stored{next[0].Old, &next[0]}
}

// shownFrom returns when the index first had this version or a later one, 0 if never. unsure is
// set if that may have been before, because history does not tell of all of them.
func (v view) shownFrom(k report.Key, version report.Version) (at int64, unsure bool, err error) {
	if version == aboveAll {
		return 0, false, nil
	}
	var last *commit.HistoryRow
	has := func(old commit.Replaced) bool { // what the row before it accepted
		unsure = last != nil && !isOf(old, last)
		at = reachedAt(old.State, old.Ended)
		return unsure || old.Version >= version && at != 0
	}
	for after := version - 1; ; after = last.Version {
		rows, err := v.after(k, after, historyPage)
		if err != nil {
			return 0, false, err
		}
		for i := range rows {
			if has(rows[i].Old) {
				return at, unsure, nil
			}
			last = &rows[i]
		}
		if len(rows) < historyPage {
			break
		}
	}
	now, err := v.current(k)
	if err != nil || !has(now) {
		at = 0
	}
	return at, unsure, err
}

// reachedAt returns when the index first had a version; 0 if it never had.
func reachedAt(state, ended int64) int64 {
	switch {
	case state == commit.StateDone || state == commit.StateResend:
		return ended
	case ended < 0:
		return -ended
	}
	return 0
}

// describe fills in the details that the history keeps of a version.
func (l *located) describe(old commit.Replaced) {
	l.Op, l.Code, l.AcceptedAt, l.Bytes = old.Op, old.Code, commit.FromMicro(old.At), int(old.Bytes)
	l.State = commit.StateName(old.State)
	l.SearchableAt = fromMicro(reachedAt(old.State, old.Ended))
}

func fromMicro(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return commit.FromMicro(at)
}

// withBody reads the body of a version.
func (v view) withBody(l located) (report.Past, error) {
	if l.Op == report.Delete {
		return l.Past, nil
	}
	at, err := v.keptAt(l.Key, l.in)
	if err != nil {
		return report.Past{}, err
	}
	if err := report.TryMemory(v.ctx, int64(l.Bytes)); err != nil {
		return report.Past{}, err
	}
	body, lost, err := v.bodyAt(l.Key, at)
	if err != nil {
		return report.Past{}, err
	}
	l.Body, l.Lost = body, lost
	return l.Past, nil
}

// keptAt follows versions with the same body to the one that keeps it; nil if that one is
// unknown.
func (v view) keptAt(k report.Key, at *stored) (*stored, error) {
	for at != nil && at.row != nil && at.old.Form == commit.FormSame {
		rows, err := v.after(k, at.row.Version, historyPage)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if !isOf(rows[i].Old, at.row) {
				return nil, nil
			}
			if at = (&stored{rows[i].Old, &rows[i]}); at.old.Form != commit.FormSame {
				return at, nil
			}
		}
		if len(rows) == historyPage {
			continue
		}
		now, err := v.current(k)
		if err != nil || !isOf(now, at.row) {
			return nil, err
		}
		return &stored{old: now}, nil
	}
	return at, nil
}

// bodyAt reads and verifies the body of what is stored.
func (v view) bodyAt(k report.Key, at *stored) (body []byte, lost report.Lost, err error) {
	switch {
	case at == nil:
		return nil, report.LostUnknown, nil
	case at.old.State == commit.StateDropped:
		return nil, report.LostDropped, nil
	case at.row == nil:
		body, err = v.currentBody(k)
	default:
		if body, err = v.pastBody(at.row.Version); err == nil {
			body, err = inflate(at.old, body)
			if err != nil {
				return nil, report.LostDamaged, nil //nolint:nilerr // it cannot be decompressed
			}
		}
	}
	if err != nil {
		return nil, "", err
	}
	if c := (report.Change{Key: k, Op: at.old.Op, Code: at.old.Code, Version: at.old.Version, AcceptedAt: commit.FromMicro(at.old.At), Body: body}); commit.Checksum(c) != uint32(at.old.CRC) {
		return nil, report.LostDamaged, nil
	}
	return body, report.NotLost, nil
}

// inflate returns the body of the version that was replaced.
func inflate(old commit.Replaced, body []byte) ([]byte, error) {
	if old.Form != commit.FormDeflated {
		return body, nil
	}
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(body)), old.Bytes+1))
}

// current returns the newest version of a document as if it were replaced now; its version is 0 if there is
// no such document.
func (v view) current(k report.Key) (old commit.Replaced, err error) {
	err = v.row(`SELECT version, op, code, accepted_at, `+commit.OldEnded+`, state, crc, `+Length+ofDocument, v.document(k)...).
		Scan((*Int)(&old.Version), (*Text)(&old.Op), (*Text)(&old.Code), (*Int)(&old.At), (*Int)(&old.Ended), (*Int)(&old.State), (*Int)(&old.CRC), &old.Bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return commit.Replaced{}, nil
	}
	old.Form = commit.FormRaw
	return old, err
}

func (v view) currentBody(k report.Key) (body []byte, err error) {
	err = v.row(`SELECT body`+ofDocument, v.document(k)...).Scan((*Bytes)(&body))
	return body, err
}

// pastBody returns the body as the row of a version keeps it.
func (v view) pastBody(version report.Version) (body []byte, err error) {
	err = v.row(`SELECT old_body FROM history WHERE version = $1`, int64(version)).Scan((*Bytes)(&body))
	return body, err
}

// before returns up to limit rows before a version, newest first, and after those after it, oldest first.
func (v view) before(k report.Key, version report.Version, limit int) ([]commit.HistoryRow, error) {
	return v.past(`version < $3 ORDER BY version DESC LIMIT $4`, k, version, limit)
}

func (v view) after(k report.Key, version report.Version, limit int) ([]commit.HistoryRow, error) {
	return v.past(`version > $3 ORDER BY version LIMIT $4`, k, version, limit)
}

func (v view) past(which string, k report.Key, version report.Version, limit int) ([]commit.HistoryRow, error) {
	return list(v, func(scan func(...any) error) (r commit.HistoryRow, err error) {
		err = scan(PastFields(&r).Targets()...)
		return r, err
	}, `SELECT `+PastFields(&commit.HistoryRow{}).List("@")+` FROM history WHERE kind = $1 AND id = $2 AND `+which, append(v.document(k), int64(version), max(limit, 0))...)
}
