package indices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"riskdex/report"
)

// Each index records in its mapping, from its creation on, the lineage of the journal that
// fills it. A riskdex with a journal of another lineage leaves it alone, and so it does where an
// index without a lineage has documents: nobody knows whose they are. The first one that checks an
// empty index without a lineage records its own.
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
type anotherJournal struct {
	detail  string
	unknown bool // nothing says that a journal fills the index, so none will make it again
}

func (e anotherJournal) Error() string { return e.detail }
func (anotherJournal) Unwrap() error   { return report.ErrAnotherJournal }

// OwnedByOther reports whether another journal filled the index of a kind when Ensure last checked
// it.
func (x *Indices) OwnedByOther(kind report.Kind) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.notOurs[kind] != nil
}

// setNotOurs records why the index of a kind is not this journal's, or nil if it is.
func (x *Indices) setNotOurs(kind report.Kind, why error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.notOurs == nil {
		x.notOurs = make(map[report.Kind]error)
	}
	x.notOurs[kind] = why
}

// CheckLineage returns an error that wraps report.ErrAnotherJournal if another journal fills
// the index of a kind, or is about to.
func (x *Indices) CheckLineage(ctx context.Context, kind report.Kind) error {
	s, err := x.state(ctx, kind)
	if err != nil {
		return err
	}
	return x.checkLineage(ctx, kind, s)
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
	why := "is gone"
	if _, there := s.indices[target]; there {
		why = "is too late"
	}
	later := cmp.Or(x.beingFilled(kind, s), index)
	if line := s.lineage(later); line != "" && line != x.Lineage {
		why += fmt.Sprintf(": another journal, whose line is %s, fills the index %s; stop one of the two", s.lineage(later), later)
	}
	return "", anotherJournal{detail: fmt.Sprintf("the index %s, which was to take %s over, %s", target, s.alias, why)}
}

func (x *Indices) checkLineage(ctx context.Context, kind report.Kind, s state) error {
	for _, index := range x.used(kind, s) {
		if x.isOwnedByOther(s, index) {
			return anotherJournal{detail: fmt.Sprintf("the index %s is filled from another journal: its line is %s, and that of this journal is %s", index, s.lineage(index), x.Lineage)}
		}
		if err := x.checkUnowned(ctx, kind, s, index); err != nil {
			return err
		}
	}
	if to := x.beingFilled(kind, s); x.isOwnedByOther(s, to) {
		return anotherJournal{detail: fmt.Sprintf("another journal is about to take %s over: it fills the index %s, whose line is %s, and that of this journal is %s; "+
			"if nobody finishes that, take it back, or delete that index", s.alias, to, s.lineage(to), x.Lineage)}
	}
	return nil
}

// checkUnowned returns an error if an index that Ensure would use has documents, and neither it nor
// this process tells which journal fills it: one that took the place of an index that this process has
// filled may have documents from it by now.
func (x *Indices) checkUnowned(ctx context.Context, kind report.Kind, s state, index string) error {
	i := s.indices[index]
	notes := i.Mappings.Meta.notes()
	if x.Lineage == "" || notes.Line != "" || x.hasFilled(kind) || i.Settings.Index.Closed == "true" || !i.has(s.alias) && !i.has(s.alias+filled) && notes.Hash != x.Set.Hash(kind) {
		return nil
	}
	documents, err := x.Refresh(ctx, index)
	if err != nil || documents == 0 {
		return err
	}
	return anotherJournal{detail: fmt.Sprintf("the index %s has documents, %d of them, and does not say which journal fills it: somebody else made it, or has replaced the _meta of its mapping", index, documents), unknown: true}
}

// isOwnedByOther reports whether an index records the lineage of another journal.
func (x *Indices) isOwnedByOther(s state, index string) bool {
	recorded := s.lineage(index)
	return recorded != "" && recorded != x.Lineage && x.Lineage != ""
}

// checkOwner checks whether this journal owns a kind, and reports whether it is to take the index over
// from another one, which happens only to the probe. The error wraps report.ErrAnotherJournal if
// another journal owns the kind, and report.ErrUndecided if only the next check can tell.
func (x *Indices) checkOwner(ctx context.Context, kind report.Kind, s state) (takeOver bool, err error) {
	if x.Lineage == "" {
		return false, nil
	}
	if err = x.checkLineage(ctx, kind, s); err == nil && len(x.used(kind, s)) == 0 {
		err = x.checkOwnerOfNew(ctx, kind)
	}
	if err != nil && !errors.Is(err, report.ErrAnotherJournal) {
		return false, err
	}
	x.setNotOurs(kind, err)
	if err == nil || kind != report.Probe {
		return false, err
	}
	// The probe is not content: it belongs to the owner of cities.
	cities, other := x.state(ctx, report.Cities)
	if other != nil {
		return false, other
	}
	if used := x.used(report.Cities, cities); len(used) > 0 && cities.lineage(used[0]) == x.Lineage {
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
		if s.lineage(name) == x.Lineage {
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
		if x.isMadeByOther(kind) {
			return anotherJournal{detail: fmt.Sprintf("the index of %s, which was filled from another journal, is gone", x.Alias(kind))}
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
	return x.checkLineage(ctx, report.Cities, cities)
}

// isMadeByOther reports whether another journal fills the index of a kind, or did until it was gone: that one,
// which may be running, makes it again.
func (x *Indices) isMadeByOther(kind report.Kind) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	why, is := errors.AsType[anotherJournal](x.notOurs[kind])
	return is && !why.unknown
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
	n.Line = x.Lineage
	m, err := m.with(n)
	if err != nil {
		return content, err
	}
	content.Mappings["_meta"], err = json.Marshal(m)
	return content, err
}
