package commit

import (
	"cmp"
	"fmt"
	"slices"
	"unicode"

	"riskdex/report"
)

// A code belongs to the city whose newest record states it. A record that says that its city has
// none gives the code up. A record that mentions no code keeps it until another city states it. So
// at any time a code has either live cities that all state it, or one live city that keeps it, or
// one that was deleted with it, or none. Only records that begin to state a code (takeCode), or
// stop stating it (keepCode), have to be checked for that.

// The values of Naming.Kept that are no place.

// lostCode is for a city that has lost its code to another. The code stays in the row, since the
// checksum covers it.
const lostCode report.Version = -1

// namesNone is for a tombstone whose id is no city's: only deletes of it ever came
// (mustRemember).
const namesNone report.Version = -2

// passedOn is for a tombstone whose id was the code of a city that has gone on without it: under its
// own id (adopt), or without the code (leaveCode).
const passedOn report.Version = -3

// HasCode reports whether a city has a code that it has not lost.
func (r *Row) HasCode() bool { return r != nil && r.Code != "" && r.Kept != lostCode }

// namesCity reports whether the id of a row is or was the id of a document, which is not so for
// some tombstones.
func (r *Row) namesCity() bool { return r != nil && r.Kept != namesNone && r.Kept != passedOn }

// isOnlyCode reports whether the row is a live city that is known by this code alone.
func (r *Row) isOnlyCode(code string) bool {
	return r.Op == report.Index && r.CodeOnly && r.HasCode() && r.Code == code && isCode(r.ID, code)
}

// wasOnlyCode reports whether the row is a delete that came for this code alone, in any spelling.
func (r *Row) wasOnlyCode(code string) bool {
	return r.Op == report.Delete && r.CodeOnly && r.Kept != passedOn && (r.Code == "" || r.Code == code)
}

// statedAt returns the place in the order of deliveries of the last record that stated
// the code of a city.
func (r *Row) statedAt() report.Version { return cmp.Or(r.Kept, r.place()) }

// nameCity returns the Naming of a city when c becomes its newest change, and completes the code of c.
// addressed is the id that c came with, and place is as in accept. stale reports that c must
// be left out, because the city that it would adopt has something newer.
func (tx *Transaction) nameCity(c *report.Change, addressed report.ID, old *Row, place report.Version) (n report.Naming, stale bool, err error) {
	if c.Kind != report.Cities {
		return n, false, nil
	}
	n.CodeOnly = old == nil && report.CodeOf(string(c.ID)) != "" || old != nil && old.CodeOnly
	if c.OwnID == c.ID || c.ExactID {
		n.CodeOnly = false
	}
	if c.Op == report.Delete && !old.namesCity() {
		n.Kept = namesNone
	}
	silent := c.Op == report.Delete || c.Code == "" && !c.NoCode
	if c.Op == report.Index && silent && (n.CodeOnly && !old.HasCode() || c.OwnID == c.ID && addressed != c.ID) {
		// The path is the city's only name, or its name besides the id in the record.
		c.Code = report.CodeOf(string(addressed))
		silent = c.Code == ""
	}
	switch {
	case silent && old.HasCode():
		c.Code = old.Code
		n.Kept, err = tx.keepCode(c, old)
	case silent:
		c.Code = ""
	case c.Code != "" && (!old.HasCode() || old.Op == report.Delete || old.Kept != 0 || old.Code != c.Code || old.CodeOnly != n.CodeOnly):
		stale, err = tx.takeCode(*c, n, place)
	}
	if err == nil && !stale && !silent && old.HasCode() && old.Code != c.Code {
		err = tx.leaveCode(old, place)
	}
	if err != nil {
		err = fmt.Errorf("see to the code %q: %w", c.Code, err)
	}
	return n, stale, err
}

// keepCode returns Naming.Kept for a city whose newest record no longer states its code. If another
// city states it, this one loses it.
func (tx *Transaction) keepCode(c *report.Change, old *Row) (report.Version, error) {
	if old.Kept != 0 {
		return old.Kept, nil
	}
	others, err := tx.WithCode(c.Code, report.Index, several)
	if err != nil {
		return 0, err
	}
	for _, id := range others {
		if id != c.ID {
			c.Code = ""
			return 0, nil
		}
	}
	return old.place(), nil
}

// takeCode takes the code of c from the city that keeps it, or was deleted with it. If that city
// was known by the code alone, c adopts it, unless nobody has stated an id for the city of c
// either.
func (tx *Transaction) takeCode(c report.Change, n report.Naming, place report.Version) (stale bool, err error) {
	if place != 0 {
		if stale, err = tx.isStaleByCode(c, n, place); err != nil || stale {
			return stale, err
		}
	}
	ownID := !n.CodeOnly && !isCode(c.ID, c.Code)
	for _, op := range []report.Op{report.Index, report.Delete} {
		ids, err := tx.WithCode(c.Code, op, several)
		if err != nil {
			return false, err
		}
		if len(ids) == several { // the list may have ended before the city that is known by the code alone
			ids = append(ids, spellings(c.Code)...)
		}
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			if id == c.ID {
				continue
			}
			r, err := tx.Find(report.Key{Kind: c.Kind, ID: id})
			switch {
			case err != nil:
				return false, err
			case !r.HasCode() || r.Code != c.Code || r.Op != op:
				continue
			case r.isOnlyCode(c.Code) && ownID:
				stale, err = tx.adopt(r, c, place)
			case op == report.Delete || r.Kept != 0:
				r.Kept = lostCode
				tx.change(r)
			}
			if err != nil || stale {
				return stale, err
			}
		}
	}
	return false, nil
}

// isStaleByCode reports whether something newer than c, which is a retry with a place, came under
// the code alone, which has no case: a delete, which was for the city of c; or anything at all, if
// that city is known by the code alone as well.
func (tx *Transaction) isStaleByCode(c report.Change, n report.Naming, place report.Version) (bool, error) {
	for _, id := range spellings(c.Code) {
		if id == c.ID {
			continue // accept has compared it
		}
		r, err := tx.Find(report.Key{Kind: c.Kind, ID: id})
		if err != nil {
			return false, err
		}
		if r != nil && (n.CodeOnly || r.wasOnlyCode(c.Code)) && r.place() > place {
			return true, nil
		}
	}
	return false, nil
}

// spellings returns a code in upper and lower case and in all between: the ids that a city which
// is known by it alone may have.
func spellings(code string) []report.ID {
	list := []report.ID{""}
	for _, letter := range code {
		longer := make([]report.ID, 0, 2*len(list))
		for _, begin := range list {
			longer = append(longer, begin+report.ID(letter), begin+report.ID(unicode.ToLower(letter)))
		}
		list = longer
	}
	return list
}

func isCode(id report.ID, code string) bool { return code != "" && report.CodeOf(string(id)) == code }

// adopt deletes the document of a city that was known by its code alone, before c, which states an
// id for that city, is accepted. From then on the code is no id any more: deliveries under it are
// for the city of c.
func (tx *Transaction) adopt(r *Row, c report.Change, place report.Version) (stale bool, err error) {
	if place != 0 && r.place() > place {
		return true, nil
	}
	gone := report.Change{Key: report.Key{Kind: c.Kind, ID: r.ID}, Op: report.Delete}
	err = tx.putAt(&gone, report.Naming{Kept: passedOn, CodeOnly: true}, r, place)
	tx.adopted = gone.Version
	return false, err
}

// leaveCode is for a city whose newest record gives up its code. What was refused before by the code
// was for that city, and is older than this record. Where no other city has the code, a tombstone
// under it tells a retry so.
func (tx *Transaction) leaveCode(old *Row, place report.Version) error {
	code := report.ID(old.Code)
	if !tx.mustRemember() || code == old.ID {
		return nil
	}
	others, err := tx.WithCode(old.Code, report.Index, several)
	if err != nil || slices.ContainsFunc(others, func(id report.ID) bool { return id != old.ID }) {
		return err
	}
	gone := report.Change{Key: report.Key{Kind: report.Cities, ID: code}, Op: report.Delete}
	n := report.Naming{Kept: passedOn, CodeOnly: true}
	r, err := tx.Find(gone.Key)
	if err != nil || r != nil && r.Op != report.Delete {
		return err
	}
	if r != nil && place != 0 && r.place() > place {
		return nil
	}
	if r.namesCity() {
		gone.Code, n = r.Code, r.Naming
	}
	if remembered, err := tx.remember(gone, code, r); err != nil || !remembered {
		return err
	}
	return tx.putAt(&gone, n, r, place)
}
