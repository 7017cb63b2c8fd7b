package commit

import (
	"errors"
	"fmt"
	"strings"

	"riskdex/report"
)

// clearRefusals forgets the refusals that an accepted change makes obsolete: those
// of its document whose place was before it. addressed is the id that the change
// came with.
func (tx *Transaction) clearRefusals(c report.Change, addressed report.ID, before report.Version) error {
	if tx.ledger.Refusals == 0 {
		return nil
	}
	obsolete, err := tx.refusalsOf(c, addressed, before)
	if err != nil {
		return fmt.Errorf("look up its refusals: %w", err)
	}
	for _, r := range obsolete {
		same, err := tx.isFor(r.id, c, addressed)
		if err == nil && same {
			_, err = tx.dropRefusal(r.seq)
		}
		if err != nil && !errors.Is(err, report.ErrNotFound) { // then another process has dropped it
			return fmt.Errorf("clear its refusal %d: %w", r.seq, err)
		}
	}
	return nil
}

type refusalID struct {
	seq int64
	id  string
}

// refusalsOf returns the refusals that may be of the document of c: the database
// compares without regard to case.
func (tx *Transaction) refusalsOf(c report.Change, addressed report.ID, before report.Version) (list []refusalID, err error) {
	code := string(c.ID)
	if c.Kind == report.Cities && c.Code != "" {
		code = c.Code
	}
	err = tx.Store.Query(func(scan func(...any) error) error {
		var r refusalID
		var id []byte
		err := scan(&r.seq, &id)
		r.id = string(id)
		list = append(list, r)
		return err
	}, `SELECT seq, id FROM refusals WHERE kind = $1 AND version < $2 AND folded IN ($3, $4, $5)`,
		string(c.Kind), int64(before), Text(Fold(string(addressed))), Text(Fold(string(c.ID))), Text(Fold(code)))
	return list, err
}

// Fold returns an id without regard to the case of ASCII letters, or nothing for one that is too long for a
// document, and for an index.
func Fold(id string) string {
	if len(id) > report.MaxIDBytes {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, id)
}

// isFor reports whether what was refused under an id was for the document of c, as
// resolve would tell it: a code names a city only where no other city has it, as
// its code or as its id.
func (tx *Transaction) isFor(id string, c report.Change, addressed report.ID) (bool, error) {
	if id == string(addressed) || id == string(c.ID) {
		return true, nil
	}
	if c.Kind != report.Cities || c.Code == "" || report.CodeOf(id) != c.Code {
		return false, nil
	}
	key, _, err := tx.resolve(report.Change{Key: report.Key{Kind: c.Kind, ID: report.ID(id)}})
	if errors.Is(err, report.ErrAmbiguous) {
		return false, nil
	}
	return key == c.Key, err
}
