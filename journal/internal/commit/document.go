package commit

import (
	"errors"
	"fmt"

	"riskdex/report"
)

// Lookup is the part of a Store that is needed to tell which document a name leads to.
type Lookup interface {
	// Find returns the row of a document, or nil.
	Find(k report.Key) (*Row, error)
	// WithCode returns the ids of cities that have a code, have not lost it, and whose newest
	// change is op, up to most of them.
	WithCode(code string, op report.Op, most int) ([]report.ID, error)
}

// mostNamed bounds the cities that are listed for a code that is ambiguous.
const mostNamed = 10

// Named returns which document a name leads to, as it would in the path of a DELETE. The result
// has By, Cities and Key only.
func Named(l Lookup, kind report.Kind, name report.ID) (d report.Document, err error) {
	if err := CheckKey(report.Key{Kind: kind, ID: name}); err != nil {
		return d, err
	}
	key, r, err := resolver{l}.resolve(report.Change{Key: report.Key{Kind: kind, ID: name}, Op: report.Delete})
	switch {
	case errors.Is(err, report.ErrAmbiguous):
		d.By = report.NamedAmbiguous
		d.Cities, err = l.WithCode(report.CodeOf(string(name)), report.Index, mostNamed)
		return d, err
	case err != nil:
		return d, fmt.Errorf("find out which document %s %q is: %w", kind, name, err)
	case r == nil || r.Kept == passedOn && isDeleted(r):
		d.By = report.NamedNothing
		return d, nil
	case key.ID == name && r.Op == report.Delete:
		d.By = report.NamedByDeletedID
	case key.ID == name:
		d.By = report.NamedByID
	case r.Op == report.Delete:
		d.By = report.NamedByDeletedCode
	default:
		d.By = report.NamedByCode
	}
	d.Key = key
	return d, nil
}
