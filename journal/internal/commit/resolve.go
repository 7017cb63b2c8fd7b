package commit

import (
	"fmt"

	"riskdex/report"
)

// resolver applies the rules that tell which document a change is for, and only reads.
type resolver struct{ rows Lookup }

// resolve returns which document a change is for, and its row if it has one. ID
// may be the id of a city or its code. In this order:
//
//  1. ID is the id of a live document, or certain to be an id: it is for that one, unless
//     that is a city known by this code alone, and the record states another id and the code:
//     it is for that id then, which adopts the city.
//  2. ID is the id of a deleted one: for that one too, unless a live city has stated
//     this code since that delete, or with it. So a delete that comes twice removes
//     nothing else, and a city that came later can be deleted by its code. The code of a
//     city that was adopted is no id.
//  3. The record states an id: it is for that id.
//  4. ID is the code of a live city: it is for that one. Where several state it, nobody
//     knows which is meant (report.ErrAmbiguous).
//  5. ID is the code of a deleted city: it is for that one.
//  6. ID is a new id.
func (x resolver) resolve(c report.Change) (report.Key, *Row, error) {
	r, err := x.rows.Find(c.Key)
	if err == nil && adopts(c, r) {
		key := report.Key{Kind: c.Kind, ID: c.OwnID}
		r, err = x.rows.Find(key)
		return key, r, err
	}
	if err != nil || c.Kind != report.Cities || c.ExactID || c.OwnID == c.ID || r != nil && r.Op != report.Delete {
		return c.Key, r, err
	}
	code := report.CodeOf(string(c.ID))
	live, err := x.rows.WithCode(code, report.Index, several)
	if err != nil {
		return c.Key, r, fmt.Errorf("look up the code %q: %w", code, err)
	}
	if r.namesCity() {
		since, err := x.statedSince(live, r)
		if err == nil && !since && len(live) == several {
			// Of those that state it, these may be any.
			if live, err = x.rows.WithCode(code, report.Index, maxNamesakes); err == nil {
				since, err = x.statedSince(live, r)
			}
		}
		if err != nil || !since {
			return c.Key, r, err
		}
	}
	found := live
	switch {
	case c.OwnID != "":
		found = []report.ID{c.OwnID}
	case len(live) > 1:
		return c.Key, r, report.ErrAmbiguous
	case len(live) == 0:
		if found, err = x.rows.WithCode(code, report.Delete, several); err != nil {
			return c.Key, r, fmt.Errorf("look up the code %q among deleted cities: %w", code, err)
		}
	}
	if len(found) != 1 {
		return c.Key, r, nil
	}
	key := report.Key{Kind: c.Kind, ID: found[0]}
	r, err = x.rows.Find(key)
	return key, r, err
}

// several cities are two: enough to tell that a code names none.
const several = 2

// maxNamesakes bounds how many cities that state one code are asked since when. A feed has
// one for each code, or a few by mistake.
const maxNamesakes = 1000

// adopts reports whether c, which came under the id of the live city r, is the first record to
// state an id for it besides its code.
func adopts(c report.Change, r *Row) bool {
	return c.Kind == report.Cities && !c.ExactID && c.Op == report.Index && c.OwnID != "" && !isCode(c.OwnID, c.Code) &&
		r != nil && r.isOnlyCode(c.Code)
}

// statedSince reports whether any of some cities that have a code has stated it since
// another one was deleted.
func (x resolver) statedSince(ids []report.ID, deleted *Row) (bool, error) {
	for _, id := range ids {
		r, err := x.rows.Find(report.Key{Kind: report.Cities, ID: id})
		if err != nil || r == nil {
			return false, err
		}
		if r.statedAt() >= deleted.place() {
			return true, nil
		}
	}
	return false, nil
}
