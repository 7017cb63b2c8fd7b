package commit

import (
	"fmt"
	"slices"

	"riskdex/report"
)

// Rows are the documents that a transaction has looked up or made. Rules change them in memory, and the
// Store writes the changed ones together.
type Rows struct {
	store  Store
	known  map[report.Key]*Row // nil where there is none
	writes Writes
	group  []*Request // whose documents and codes are looked up together
	// The cities of each code: those that are known, and of the codes that were looked up the others. Both are
	// nil until a code is looked up.
	coded, inTable coded
	lookedUp       map[string]struct{}
}

// Writes are what a transaction has changed and not written yet. The history is written first: it copies
// from the table what the rows replace.
type Writes struct {
	Past    []*Entry
	Reached []Reached
	Rows    []*Row
}

// Reached is a version that reached the index after it was replaced.
type Reached struct {
	report.Key
	Version report.Version
	At      int64
}

// codedAs is a code of live cities, or of deleted ones.
type codedAs struct {
	code string
	op   report.Op
}

// coded has the cities that have a code.
type coded map[codedAs]map[report.ID]struct{}

func (x coded) add(as codedAs, id report.ID) {
	if as.code == "" {
		return
	}
	if x[as] == nil {
		x[as] = map[report.ID]struct{}{}
	}
	x[as][id] = struct{}{}
}

func newRows(s Store) *Rows {
	return &Rows{store: s, known: map[report.Key]*Row{}}
}

// Know notes the rows that were found of some documents.
func (x *Rows) Know(keys []report.Key, found []*Row) {
	for _, k := range keys {
		x.known[k] = nil
	}
	for _, r := range found {
		r.wrote()
		r.noted, x.known[r.Key] = codedAs{}, r
		x.noteCode(r)
	}
}

// Find implements Lookup.
func (x *Rows) Find(k report.Key) (*Row, error) {
	r, ok := x.known[k]
	if ok {
		return r, nil
	}
	keys := []report.Key{k}
	found, err := x.store.Load(keys)
	if err != nil {
		return nil, fmt.Errorf("look up %s %q: %w", k.Kind, k.ID, err)
	}
	x.Know(keys, found)
	return x.known[k], nil
}

// expect looks up the documents that a group of requests will. After an error of the database nothing may be
// written: it may have ended the transaction.
func (x *Rows) expect(group []*Request) error {
	x.group = append(x.group, group...)
	var keys []report.Key
	seen := map[report.Key]bool{}
	for _, r := range group {
		for _, k := range r.Keys {
			if _, known := x.known[k]; !known && !seen[k] {
				seen[k], keys = true, append(keys, k)
			}
		}
	}
	for chunk := range slices.Chunk(keys, MaxBatch) {
		found, err := x.store.Load(chunk)
		if err != nil {
			return fmt.Errorf("look up the documents of a group: %w", err)
		}
		x.Know(chunk, found)
	}
	return nil
}

// change notes that a row was changed.
func (x *Rows) change(r *Row) {
	x.noteCode(r)
	if !r.changed {
		r.changed, x.writes.Rows = true, append(x.writes.Rows, r)
	}
}

// Take returns what is to be written. The caller writes it.
func (x *Rows) Take() Writes {
	w := x.writes
	x.writes = Writes{}
	return w
}

// Wrote notes that rows were written.
func (w Writes) Wrote() {
	for _, r := range w.Rows {
		r.wrote()
	}
}

// Flush writes what was changed.
func (x *Rows) Flush() error {
	w := x.Take()
	err := x.store.Flush(w)
	w.Wrote()
	return err
}

// forget writes what was changed, and forgets all rows. It is called before a statement that changes rows in
// the table.
func (x *Rows) forget() error {
	err := x.Flush()
	clear(x.known)
	x.coded, x.inTable, x.lookedUp = nil, nil, nil
	return err
}

// noteCode notes which code a row has once it was found or changed.
func (x *Rows) noteCode(r *Row) {
	as := r.codedAs()
	if x.coded == nil || r.Kind != report.Cities || as == r.noted {
		return
	}
	delete(x.coded[r.noted], r.ID)
	delete(x.inTable[as], r.ID)
	r.noted = as
	x.coded.add(as, r.ID)
}

// WithCode implements Lookup. It looks up the codes of a whole group in the table at once, and returns known
// cities first, which need no further lookup.
func (x *Rows) WithCode(code string, op report.Op, most int) (ids []report.ID, err error) {
	if _, ok := x.lookedUp[code]; !ok && code != "" {
		if err := x.lookUpCodes(code); err != nil {
			return nil, err
		}
	}
	for _, in := range []coded{x.coded, x.inTable} {
		for id := range in[codedAs{code, op}] {
			if len(ids) == most {
				return ids, nil
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// lookUpCodes looks up which cities have a code, together with all other codes that the group names.
func (x *Rows) lookUpCodes(code string) error {
	if x.coded == nil {
		x.coded, x.inTable, x.lookedUp = coded{}, coded{}, map[string]struct{}{}
		for _, r := range x.known {
			if r != nil {
				x.noteCode(r)
			}
		}
	}
	var wanted []string
	add := func(code string) {
		if _, ok := x.lookedUp[code]; !ok && code != "" {
			x.lookedUp[code] = struct{}{}
			wanted = append(wanted, code)
		}
	}
	add(code)
	for _, r := range x.group {
		for _, c := range r.Changes {
			if c.Kind == report.Cities {
				add(c.Code)
				add(report.CodeOf(string(c.ID)))
			}
		}
	}
	return x.store.Codes(wanted, func(id report.ID, code string, op report.Op) {
		if x.known[report.Key{Kind: report.Cities, ID: id}] == nil { // else its row says which code it has now
			x.inTable.add(codedAs{code, op}, id)
		}
	})
}
