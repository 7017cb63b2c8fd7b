package indices

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"riskdex/report"
)

// Each index records in its mapping, from its creation on, the lineage of the journal that
// fills it, and which copy of that journal it is. A riskdex with a journal of another lineage
// leaves it alone. So does one with another copy, except that a copy may adopt what was filled
// from a journal that it was made of, once it is known to lack nothing of that. An index without
// a lineage is nobody's: it is adopted if it has no documents.
//
// A journal takes a kind over by creating a new index beside the one that another journal
// fills, and filling it. The existence of the new index is all there is of a take-over: the
// process that fills the index behind the alias pauses the kind from its next check on, and
// continues once the new index is gone. Nobody writes to the old index, so it stays as its
// journal has left it. One request moves the alias and ends the take-over. So wherever a
// take-over is interrupted, it is either finished or never happened.
//
// If several journals find no index at all, one gets all kinds: the one that creates the
// index of cities, which Elasticsearch lets only one of them do. The other kinds get an
// index only once cities has one.

// anotherJournal is report.ErrAnotherJournal with details.
type anotherJournal struct{ detail string }

func (e anotherJournal) Error() string { return e.detail }
func (anotherJournal) Unwrap() error   { return report.ErrAnotherJournal }

// OwnedByOther reports whether another journal filled the index of a kind when Ensure last checked
// it.
func (x *Indices) OwnedByOther(kind report.Kind) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ownedByOther[kind]
}

func (x *Indices) setOwnedByOther(kind report.Kind, is bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ownedByOther == nil {
		x.ownedByOther = make(map[report.Kind]bool)
	}
	x.ownedByOther[kind] = is
}

// CheckLineage returns an error that wraps report.ErrAnotherJournal if another journal fills
// the index of a kind, or is about to.
func (x *Indices) CheckLineage(ctx context.Context, kind report.Kind) error {
	s, err := x.state(ctx, kind)
	if err != nil {
		return err
	}
	return x.checkLineage(kind, s)
}

// CheckTakeOver is CheckLineage for a journal that is taking a kind over by filling the index
// target.
// It returns the index that apps search, which is another journal's unless it is target already.
// The error wraps report.ErrAnotherJournal if target is gone, or if another journal has begun to
// take the kind over since.
func (x *Indices) CheckTakeOver(ctx context.Context, kind report.Kind, target string) (index string, err error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return "", err
	}
	if index = x.meant(kind, s); index == target || x.beingFilled(kind, s) == target {
		return index, nil
	}
	return "", anotherJournal{fmt.Sprintf("the index %s, which was to take %s over, is gone, or another journal takes it over since", target, s.alias)}
}

func (x *Indices) checkLineage(kind report.Kind, s state) error {
	for _, index := range x.used(kind, s) {
		switch owner := x.ownerOf(s, index); owner {
		case this:
		case nobody:
			return anotherJournal{fmt.Sprintf("the index %s is not known to be empty, and does not say which journal fills it: it was not made by riskdex", index)}
		default:
			return anotherJournal{fmt.Sprintf("the index %s is filled from %s", index, x.describe(s, index, owner))}
		}
	}
	if to := x.beingFilled(kind, s); to != "" {
		if owner := x.ownerOf(s, to); owner != this {
			return anotherJournal{fmt.Sprintf("another journal is about to take %s over: it fills the index %s from %s; "+
				"if nobody finishes that, take it back, or delete that index", s.alias, to, x.describe(s, to, owner))}
		}
	}
	return nil
}

// owner is whose an index is, as seen from a journal.
type owner int

const (
	this     owner = iota // it is filled from this journal
	original              // from one that this journal is a copy of
	copied                // from a copy of this journal, or another copy of what this one is a copy of
	stranger              // from a journal of another lineage
	nobody                // it does not say
)

// ownerOf returns whose an index of s is. An index that records no copy is filled from all of a lineage.
func (x *Indices) ownerOf(s state, index string) owner {
	n := s.indices[index].Mappings.Meta.notes()
	copies := x.Copies()
	switch at := slices.Index(copies, n.Copy); {
	case x.Lineage == "":
		return this
	case n.Line == "":
		return nobody
	case n.Line != x.Lineage:
		return stranger
	case at == 0 || n.Copy == "" || len(copies) == 0:
		return this
	case at > 0:
		return original
	}
	return copied
}

// describe says whose an index is, and what tells.
func (x *Indices) describe(s state, index string, o owner) string {
	switch o {
	case original:
		return "the journal that this one is a copy of, and this one is not known to have everything that it has"
	case copied:
		return "another copy of this journal"
	}
	return fmt.Sprintf("another journal: its line is %s, and that of this journal is %s", s.lineage(index), x.Lineage)
}

// Copies returns the ids that SetCopies has set.
func (x *Indices) Copies() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.copies
}

// SetCopies sets the ids that tell the journal from its copies (report.CopiesIn). Without, every
// copy of the journal counts as the same.
func (x *Indices) SetCopies(ids []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.copies = ids
}

// Adopt makes those indices of a kind this journal's that were filled from one that it is a copy of.
// It must lack nothing of what they have. With them go those that nobody has filled. Of two journals
// that adopt an index, the one that marks it last owns it, so after the error report.ErrUndecided
// the next check tells.
func (x *Indices) Adopt(ctx context.Context, kind report.Kind) error {
	s, err := x.state(ctx, kind)
	if err != nil {
		return err
	}
	var adopted []string
	for _, name := range slices.Sorted(maps.Keys(s.indices)) {
		owner := x.ownerOf(s, name)
		if owner == nobody && s.indices[name].Settings.Index.Closed != "true" {
			documents, err := x.Refresh(ctx, name)
			if err != nil {
				return err
			}
			if documents == 0 {
				owner = original
			}
		}
		if owner != original {
			continue
		}
		n := s.indices[name].Mappings.Meta.notes()
		n.Line, n.Copy = x.Lineage, x.copy()
		if err := x.note(ctx, s, name, n); err != nil {
			return err
		}
		adopted = append(adopted, name)
	}
	if len(adopted) == 0 {
		return nil
	}
	x.Log.InfoContext(ctx, "this journal fills these indices from now on: it lacks nothing of what they have", "indices", adopted)
	return fmt.Errorf("%w: %s was marked just now", report.ErrUndecided, strings.Join(adopted, " and "))
}

// copy returns the id of this copy of the journal; empty if it is unknown.
func (x *Indices) copy() string {
	if ids := x.Copies(); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// checkOwner checks whether this journal owns a kind, and reports whether it is to take the index over
// from another one, which happens only to the probe. The error wraps report.ErrAnotherJournal if
// another journal owns the kind, and report.ErrUndecided if only the next check can tell.
func (x *Indices) checkOwner(ctx context.Context, kind report.Kind, s state) (takeOver bool, err error) {
	if x.Lineage == "" {
		return false, nil
	}
	if err = x.checkLineage(kind, s); err == nil && len(x.used(kind, s)) == 0 {
		err = x.checkOwnerOfNew(ctx, kind)
	}
	if err != nil && !errors.Is(err, report.ErrAnotherJournal) {
		return false, err
	}
	x.setOwnedByOther(kind, err != nil)
	if err == nil || kind != report.Probe {
		return false, err
	}
	// The probe is not content: it belongs to the owner of cities.
	cities, other := x.state(ctx, report.Cities)
	if other != nil {
		return false, other
	}
	if used := x.used(report.Cities, cities); len(used) > 0 && x.ownerOf(cities, used[0]) == this {
		return true, nil
	}
	return false, err
}

// undo deletes the indices with which this journal has begun to take a kind over, and those
// of a rebuild that ended because another journal took over. First, what was written there,
// and nowhere else, is marked to be sent again.
func (x *Indices) undo(ctx context.Context, kind report.Kind, s state, resend func(context.Context) error) error {
	var mine []string
	for _, name := range s.inRole(rebuilding) {
		if x.ownerOf(s, name) == this {
			mine = append(mine, name)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	x.Log.WarnContext(ctx, "deleting an unfinished index: another journal fills the one behind the alias", "indices", mine)
	return x.startOver(ctx, kind, s, mine, resend)
}

// checkOwnerOfNew is checkOwner for a kind that has no index.
func (x *Indices) checkOwnerOfNew(ctx context.Context, kind report.Kind) error {
	if kind == report.Cities {
		if x.OwnedByOther(kind) {
			// Its owner, which may be running, recreates it.
			return anotherJournal{fmt.Sprintf("the index of %s, which was filled from another journal, is gone", x.Alias(kind))}
		}
		return nil
	}
	cities, err := x.state(ctx, report.Cities)
	if err != nil {
		return err
	}
	if len(x.used(report.Cities, cities)) == 0 {
		return fmt.Errorf("%w: %s belongs to whoever owns %s, which does not exist yet", report.ErrUndecided, x.Alias(kind), cities.alias)
	}
	return x.checkLineage(report.Cities, cities)
}

func (s state) lineage(index string) string { return s.indices[index].Mappings.Meta.notes().Line }

// used returns the index that is kept up to date; or else those behind the alias, or the one that
// would be put there.
func (x *Indices) used(kind report.Kind, s state) []string {
	if kept := x.kept(kind, s); kept != "" {
		return []string{kept}
	}
	if behind := s.with(s.alias); len(behind) > 0 {
		return behind
	}
	if latest := s.latest(func(name string) bool { return !s.indices[name].has(s.alias + rebuilding) }); latest != "" {
		return []string{latest}
	}
	return nil
}

// beingFilled returns the index that a take-over or a rebuild of the kind is filling: the latest of
// those that are being filled, unless apps search a later one.
func (x *Indices) beingFilled(kind report.Kind, s state) string {
	used, filling := x.used(kind, s), s.inRole(rebuilding)
	latest := s.latest(func(name string) bool { return slices.Contains(used, name) || slices.Contains(filling, name) })
	if !slices.Contains(filling, latest) {
		return ""
	}
	return latest
}

// withLineage returns content with the lineage of this journal in it, so that the index records it
// from its creation on.
func (x *Indices) withLineage(content indexBody) (indexBody, error) {
	var m meta
	if err := json.Unmarshal(content.Mappings["_meta"], &m); err != nil {
		return content, err
	}
	n := m.notes()
	n.Line, n.Copy = x.Lineage, x.copy()
	m, err := m.with(n)
	if err != nil {
		return content, err
	}
	content.Mappings["_meta"], err = json.Marshal(m)
	return content, err
}
