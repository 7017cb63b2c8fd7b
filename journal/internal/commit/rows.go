package commit

import (
	"fmt"
	"slices"

	"riskdex/report"
)

// Rows are the documents that a transaction has looked up or made. Rules change them in memory, and the
// Store writes the changed ones together.
type Rows struct {
	store   Store
	known   map[report.Key]*Row // nil where there is none
	writes  Writes
	group   []*Request              // whose documents and codes are looked up together
	coded   map[codedAs][]report.ID // the ids of known cities that have or had a code
	inTable map[codedAs][]report.ID // who had a code when it was looked up
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
		x.known[r.Key] = r
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

// fewAhead is the smallest number of documents worth one combined lookup.
const fewAhead = 3

// expect looks up the documents that a group of requests will. After an error of the database nothing may be
// written: it may have ended the transaction.
func (x *Rows) expect(group []*Request) error {
	x.group = append(x.group, group...)
	n := 0
	for _, r := range group {
		n += len(r.Keys)
	}
	if n < fewAhead {
		return nil
	}
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
	x.inTable = nil
	return err
}

// noteCode records the code under which WithCode finds a row, once that was asked.
func (x *Rows) noteCode(r *Row) {
	if as := r.codedAs(); x.inTable != nil && as.code != "" && r.Kind == report.Cities {
		x.coded[as] = append(x.coded[as], r.ID)
	}
}

// WithCode implements Lookup. It searches the rows that are known, and the table for others. It looks up
// the codes of a whole group in the table at once.
func (x *Rows) WithCode(code string, op report.Op, most int) (ids []report.ID, err error) {
	if code == "" {
		return nil, nil
	}
	if _, ok := x.inTable[codedAs{code, report.Index}]; !ok {
		if err := x.lookUpCodes(code); err != nil {
			return nil, err
		}
	}
	// Ids that no longer have the code are dropped from the list, so that a code which every
	// city of a delivery states takes no longer than others.
	as := codedAs{code, op}
	find := func(in map[codedAs][]report.ID, has func(*Row) bool) {
		list := in[as]
		if len(list) == 0 {
			return
		}
		rest := list[:0]
		for i, id := range list {
			if len(ids) == most {
				rest = append(rest, list[i:]...)
				break
			}
			if has(x.known[report.Key{Kind: report.Cities, ID: id}]) && !slices.Contains(ids, id) {
				ids, rest = append(ids, id), append(rest, id)
			}
		}
		in[as] = rest
	}
	find(x.coded, func(r *Row) bool { return r != nil && r.codedAs() == as })
	find(x.inTable, func(r *Row) bool { return r == nil })
	return ids, nil
}

// lookUpCodes looks up which cities have a code, together with all other codes that the group names.
func (x *Rows) lookUpCodes(code string) error {
	if x.inTable == nil {
		x.coded, x.inTable = map[codedAs][]report.ID{}, map[codedAs][]report.ID{}
		for _, r := range x.known {
			if r != nil {
				x.noteCode(r)
			}
		}
	}
	var wanted []string
	add := func(code string) {
		as := codedAs{code, report.Index}
		if _, ok := x.inTable[as]; !ok && code != "" {
			x.inTable[as] = nil
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
		as := codedAs{code, op}
		x.inTable[as] = append(x.inTable[as], id)
	})
}
