package reconcile

import (
	"cmp"
	"slices"
	"time"

	"riskdex/internal/exportline"
	"riskdex/report"
)

// Problem is how a document differs.
type Problem string

// The problems.
const (
	Missing   Problem = "missing"   // it is in the list, and not here
	Surplus   Problem = "surplus"   // it is here, and not in the list
	Differs   Problem = "differs"   // its record here has another content, or is lost
	Ambiguous Problem = "ambiguous" // it is in the list by a code that several cities here have
	Newer     Problem = "newer"     // it is here otherwise than in the list, and was delivered since: nothing is wrong
)

// Problems returns every problem, in the order in which they are told.
func Problems() []Problem { return []Problem{Missing, Surplus, Differs, Ambiguous, Newer} }

// Finding is a document that differs.
type Finding struct {
	Kind       report.Kind    `json:"kind"`
	ID         report.ID      `json:"id"`
	Code       string         `json:"code,omitempty"` // of a city that is here and has one
	Problem    Problem        `json:"problem"`
	Version    report.Version `json:"version,omitempty"` // here
	AcceptedAt time.Time      `json:"accepted_at,omitzero"`
	Lost       report.Lost    `json:"lost,omitempty"`    // why there is no record here
	Deleted    bool           `json:"deleted,omitempty"` // the newest delivery of a missing one is a DELETE
	Refused    int64          `json:"refused,omitempty"` // the number of the newest refused delivery of a missing one
}

// Comparison compares a list with the documents that are here. Add is called with each of them,
// then End.
type Comparison struct {
	list   *List
	since  report.Version // what has a later one may be later than the list
	Here   int            // documents
	Found  []Finding      // after End, by problem and id
	coded  []Finding      // of those in the list, those by their code alone
	doubts []doubt
}

// doubt is a document whose code is in the list, until it is known that nothing has that as its
// id.
type doubt struct {
	entry   int32
	adopted bool // its id is its code, and the list has the city under another id
	finding Finding
}

// Compare begins a comparison. The list was made after riskdex had accepted the version since.
func Compare(l *List, since report.Version) *Comparison { return &Comparison{list: l, since: since} }

// Add compares one document.
func (c *Comparison) Add(d exportline.Line) {
	c.Here++
	f := Finding{Kind: d.Kind, ID: d.ID, Code: d.Code, Version: d.Version, AcceptedAt: d.AcceptedAt, Lost: d.Lost}
	if i, ok := c.list.byName[string(d.ID)]; ok {
		c.list.entries[i].found = true
		if i, ok := c.list.byCode[d.Code]; ok { // the list has it by its code as well
			e := &c.list.entries[i]
			e.several, e.coded = e.coded, true
		}
		c.match(c.differs(f, i, d.Record))
		return
	}
	if d.Kind == report.Cities && d.Code != "" {
		if i, ok := c.list.byCode[d.Code]; ok {
			e := &c.list.entries[i]
			e.several, e.coded = e.coded, true
			c.doubts = append(c.doubts, doubt{i, false, c.differs(f, i, d.Record)})
			return
		}
		if i, ok := c.list.stated[d.Code]; ok && report.CodeOf(string(d.ID)) == d.Code {
			f.Problem = Differs
			c.doubts = append(c.doubts, doubt{i, true, f})
			return
		}
	}
	c.surplus(f)
}

// differs returns f with how a document differs from an entry of the list, if it does.
func (c *Comparison) differs(f Finding, i int32, record []byte) Finding {
	e := c.list.entries[i]
	switch {
	case f.Lost != report.NotLost:
		f.Problem = Differs
	case !c.list.Records || e.also || digestOf(record) == e.digest:
	case f.Version > c.since:
		f.Problem = Newer
	default:
		f.Problem = Differs
	}
	return f
}

func (c *Comparison) match(f Finding) {
	if f.Problem != "" {
		c.Found = append(c.Found, f)
	}
}

func (c *Comparison) surplus(f Finding) {
	if f.Problem = Surplus; f.Version > c.since {
		f.Problem = Newer
	}
	c.Found = append(c.Found, f)
}

// End completes the comparison.
func (c *Comparison) End() {
	for _, d := range c.doubts {
		e := &c.list.entries[d.entry]
		switch {
		case e.found: // by its id, so that this is another city
			c.surplus(d.finding)
		case !e.several:
			c.match(d.finding)
			if !d.adopted {
				c.coded = append(c.coded, d.finding)
			}
		}
	}
	for _, d := range c.doubts {
		if e := &c.list.entries[d.entry]; d.adopted && !e.found {
			e.coded = true
		}
	}
	c.doubts = nil
	for i := range c.list.entries {
		e := &c.list.entries[i]
		f := Finding{Kind: c.list.Kind, ID: report.ID(e.name), Problem: Missing}
		switch {
		case e.found || e.also:
		case e.several:
			f.Problem = Ambiguous
			c.Found = append(c.Found, f)
		case !e.coded:
			c.Found = append(c.Found, f)
		}
	}
	c.sort()
}

// Explain calls f with up to so many of those that are missing, so that it completes what is
// known of them. One that was delivered, or deleted, since is not missing any more. It is called
// after End.
func (c *Comparison) Explain(most int, f func(*Finding) error) error {
	missing := c.With(Missing)
	for i := range missing[:min(most, len(missing))] {
		if err := f(&missing[i]); err != nil {
			return err
		}
		if missing[i].Version > c.since {
			missing[i].Problem = Newer
		}
	}
	c.sort()
	return nil
}

func (c *Comparison) sort() {
	order := Problems()
	slices.SortFunc(c.Found, func(a, b Finding) int {
		return cmp.Or(slices.Index(order, a.Problem)-slices.Index(order, b.Problem), cmp.Compare(a.ID, b.ID))
	})
}

// Count returns how many documents have a problem.
func (c *Comparison) Count(p Problem) int { return len(c.With(p)) }

// With returns the documents with a problem. It is called after End.
func (c *Comparison) With(p Problem) []Finding {
	from := slices.IndexFunc(c.Found, func(f Finding) bool { return f.Problem == p })
	if from < 0 {
		return nil
	}
	to := from
	for to < len(c.Found) && c.Found[to].Problem == p {
		to++
	}
	return c.Found[from:to:to]
}
