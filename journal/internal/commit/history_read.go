package commit

import (
	"context"
	"math"
	"time"

	"riskdex/report"
)

// Past is the history of documents, as of one transaction.
type Past interface {
	// Current returns the newest version of a document as if it were replaced now; its version
	// is 0 if there is no such document. CurrentBody returns its body.
	Current(k report.Key) (Replaced, error)
	CurrentBody(k report.Key) ([]byte, error)
	// Before returns up to limit rows before a version, newest first. After returns those after
	// a version, oldest first.
	Before(k report.Key, v report.Version, limit int) ([]HistoryRow, error)
	After(k report.Key, v report.Version, limit int) ([]HistoryRow, error)
	// Body returns the body as the row of a version keeps it.
	Body(v report.Version) ([]byte, error)
}

// Histories implements the methods of a journal that read its history. Every engine embeds it.
type Histories struct {
	read func(context.Context, report.Key, func(Past) error) error
}

// NewHistories returns the methods. read calls a function with the history as of one
// transaction.
func NewHistories(read func(ctx context.Context, key report.Key, f func(Past) error) error) Histories {
	return Histories{read}
}

// History implements Journal.
func (h Histories) History(ctx context.Context, key report.Key, before report.Version, limit int) (list []report.Past, err error) {
	err = h.read(ctx, key, func(p Past) error {
		list, err = history(p, key, before, limit)
		return err
	})
	return list, err
}

// PastVersion implements Journal.
func (h Histories) PastVersion(ctx context.Context, key report.Key, v report.Version) (past report.Past, err error) {
	err = h.read(ctx, key, func(p Past) error {
		past, err = pastVersion(ctx, p, key, v)
		return err
	})
	return past, err
}

// PastAt implements Journal.
func (h Histories) PastAt(ctx context.Context, key report.Key, at time.Time) (past report.Past, err error) {
	err = h.read(ctx, key, func(p Past) error {
		past, err = pastAt(ctx, p, key, at)
		return err
	})
	return past, err
}

// stored is where the content of a version is: in the row of the version that replaced it, or in documents
// if row is nil.
type stored struct {
	old Replaced
	row *HistoryRow
}

// located is a version with what stores it, which is nil if its content is unknown.
type located struct {
	report.Past
	in *stored
}

// historyPage is how many rows are read at a time if it is unknown how many are needed.
const historyPage = 256

// newest is above the version of every row.
const newest report.Version = math.MaxInt64

// history returns the versions of a document before a given one, newest first, from up to limit
// rows.
func history(p Past, k report.Key, before report.Version, limit int) (list []report.Past, err error) {
	found, err := versions(p, k, before, limit)
	for _, v := range found {
		list = append(list, v.Past)
	}
	return list, err
}

// pastVersion returns one version of a document with its body, or report.ErrNotFound.
func pastVersion(ctx context.Context, p Past, k report.Key, v report.Version) (report.Past, error) {
	if v <= 0 || v == newest {
		return report.Past{}, report.ErrNotFound
	}
	found, err := versions(p, k, v+1, 1)
	for _, l := range found {
		if l.Version == v || l.in != nil && l.in.old.Version == v {
			return withBody(ctx, p, l)
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
func pastAt(ctx context.Context, p Past, k report.Key, at time.Time) (report.Past, error) {
	t := at.UnixMicro()
	first, err := firstAfter(p, k, t)
	if err != nil {
		return report.Past{}, err
	}
	end := newest
	var was Replaced
	if first != nil {
		end, was = first.Version, first.Old
	} else if was, err = p.Current(k); err != nil {
		return report.Past{}, err
	}
	if was.Version != 0 && was.At > t {
		return report.Past{}, report.ErrHistoryTooShort
	}
	found, err := versions(p, k, end, 1)
	switch {
	case err != nil:
		return report.Past{}, err
	case len(found) == 0:
		return report.Past{}, report.ErrNotFound
	case found[0].Gap: // what came after it may have been valid then
		return report.Past{}, report.ErrHistoryTooShort
	}
	return withBody(ctx, p, found[0])
}

// firstAfter returns the first row of a change that was accepted after a time. It can search by
// version, since no version is below the time of its acceptance.
func firstAfter(p Past, k report.Key, t int64) (*HistoryRow, error) {
	for after := report.Version(t); ; {
		rows, err := p.After(k, after, historyPage)
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
func versions(p Past, k report.Key, before report.Version, limit int) (list []located, err error) {
	rows, err := p.Before(k, before, limit)
	if err != nil {
		return nil, err
	}
	above, err := storedBefore(p, k, before)
	if err != nil {
		return nil, err
	}
	shown, unsure, err := shownFrom(p, k, before)
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
		l := located{Past: report.Past{Version: r.Version, Op: r.Op, AcceptedAt: FromMicro(r.At), Bytes: int(r.Bytes), Source: r.Source, First: r.Old.Version == 0}}
		switch {
		case above.old.isOf(r):
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

func (old Replaced) isOf(r *HistoryRow) bool {
	return old.Version >= r.Version && old.At == r.At && old.Op == r.Op
}

func (a *stored) replacedAt() time.Time {
	if a.row == nil {
		return time.Time{}
	}
	return FromMicro(a.row.At)
}

// storedBefore returns what stores the newest version before the given one.
func storedBefore(p Past, k report.Key, before report.Version) (*stored, error) {
	if before != newest {
		next, err := p.After(k, before-1, 1)
		if err != nil || len(next) > 0 {
			return nextStored(next), err
		}
	}
	old, err := p.Current(k)
	return &stored{old: old}, err
}

func nextStored(next []HistoryRow) *stored {
	if len(next) == 0 {
		return &stored{}
	}
	return &stored{next[0].Old, &next[0]}
}

// shownFrom returns when the index first had this version or a later one, 0 if never. unsure is
// set if that may have been before, because history does not tell of all of them.
func shownFrom(p Past, k report.Key, v report.Version) (at int64, unsure bool, err error) {
	if v == newest {
		return 0, false, nil
	}
	var last *HistoryRow
	has := func(old Replaced) bool { // what the row before it accepted
		unsure = last != nil && !old.isOf(last)
		at = old.reachedAt()
		return unsure || old.Version >= v && at != 0
	}
	for after := v - 1; ; after = last.Version {
		rows, err := p.After(k, after, historyPage)
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
	now, err := p.Current(k)
	if err != nil || !has(now) {
		at = 0
	}
	return at, unsure, err
}

// reachedAt returns when the index first had the version; 0 if it never had.
func (old Replaced) reachedAt() int64 { return reachedAt(old.State, old.Ended) }

func reachedAt(state, ended int64) int64 {
	switch {
	case state == StateDone || state == StateResend:
		return ended
	case ended < 0:
		return -ended
	}
	return 0
}

// describe fills in the details that the history keeps of a version.
func (l *located) describe(old Replaced) {
	l.Op, l.Code, l.AcceptedAt, l.Bytes = old.Op, old.Code, FromMicro(old.At), int(old.Bytes)
	l.State = StateName(old.State)
	l.SearchableAt = fromMicro(old.reachedAt())
}

func fromMicro(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return FromMicro(at)
}

// withBody reads the body of a version.
func withBody(ctx context.Context, p Past, l located) (report.Past, error) {
	if l.Op == report.Delete {
		return l.Past, nil
	}
	at, err := keptAt(p, l.Key, l.in)
	if err != nil {
		return report.Past{}, err
	}
	if err := report.TryMemory(ctx, int64(l.Bytes)); err != nil {
		return report.Past{}, err
	}
	body, lost, err := bodyAt(p, l.Key, at)
	if err != nil {
		return report.Past{}, err
	}
	l.Body, l.Lost = body, lost
	return l.Past, nil
}

// keptAt follows versions with the same body to the one that keeps it; nil if that one is
// unknown.
func keptAt(p Past, k report.Key, at *stored) (*stored, error) {
	for at != nil && at.row != nil && at.old.Form == FormSame {
		rows, err := p.After(k, at.row.Version, historyPage)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if !rows[i].Old.isOf(at.row) {
				return nil, nil
			}
			if at = (&stored{rows[i].Old, &rows[i]}); at.old.Form != FormSame {
				return at, nil
			}
		}
		if len(rows) == historyPage {
			continue
		}
		now, err := p.Current(k)
		if err != nil || !now.isOf(at.row) {
			return nil, err
		}
		return &stored{old: now}, nil
	}
	return at, nil
}

// bodyAt reads and verifies the body of what is stored.
func bodyAt(p Past, k report.Key, at *stored) (body []byte, lost report.Lost, err error) {
	switch {
	case at == nil:
		return nil, report.LostUnknown, nil
	case at.old.State == StateDropped:
		return nil, report.LostDropped, nil
	case at.row == nil:
		body, err = p.CurrentBody(k)
	default:
		if body, err = p.Body(at.row.Version); err == nil {
			body, err = inflate(at.old, body)
			if err != nil {
				return nil, report.LostDamaged, nil //nolint:nilerr // it cannot be decompressed
			}
		}
	}
	if err != nil {
		return nil, "", err
	}
	if c := (report.Change{Key: k, Op: at.old.Op, Code: at.old.Code, Version: at.old.Version, AcceptedAt: FromMicro(at.old.At), Body: body}); Checksum(c) != uint32(at.old.CRC) {
		return nil, report.LostDamaged, nil
	}
	return body, report.NotLost, nil
}
