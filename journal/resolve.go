package journal

import (
	"fmt"
	"strings"

	"riskdex/report"
)

// resolve tells which document a change is for, and returns its row if it has
// one. A city answers to its code: what is not the id of a live city may be the
// code of exactly one, unless it is certain to be an id. Live cities go before
// tombstones; the id that the body states counts only when nothing is known under
// the one that was addressed.
func (tx *transaction) resolve(c report.Change) (report.Key, *row, error) {
	r, err := tx.store.find(c.Key)
	if err != nil || c.ByID || c.ExactID || c.Kind != report.Cities || r != nil && r.op != report.Delete {
		return c.Key, r, err
	}
	code := strings.ToUpper(string(c.ID))
	found, err := tx.onlyOneWithCode(code, report.Index)
	if err == nil && found == "" && r == nil {
		found, err = tx.onlyOneWithCode(code, report.Delete)
		if found == "" {
			found = c.OwnID
		}
	}
	if err != nil || found == "" {
		return c.Key, r, err
	}
	key := report.Key{Kind: c.Kind, ID: found}
	r, err = tx.store.find(key)
	return key, r, err
}

// onlyOneWithCode returns the id of the one city with that code whose newest
// change is op, and nothing when there is none or more than one.
func (tx *transaction) onlyOneWithCode(code string, op report.Op) (report.ID, error) {
	ids, err := tx.store.withCode(code, op)
	if err != nil {
		return "", fmt.Errorf("look up the code %q: %w", code, err)
	}
	if len(ids) != 1 {
		return "", nil
	}
	return ids[0], nil
}
