package report

import "fmt"

// Kind is one of the three kinds of content that the publisher delivers.
// Its text is the same everywhere: the collection in the path of a delivery,
// the alias that apps search, the field `kind` of a document and the label
// `kind` of a metric.
type Kind string

// The kinds of the delivery interface.
const (
	Cities         Kind = "cities"
	Advisories     Kind = "advisories"
	SpecialReports Kind = "special-reports"
)

// Kinds returns every kind, always in the same order.
func Kinds() []Kind { return []Kind{Cities, Advisories, SpecialReports} }

// ParseKind returns the kind whose text is s.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case Cities, Advisories, SpecialReports:
		return k, nil
	}
	return "", fmt.Errorf("no kind is called %q; the kinds are %v", s, Kinds())
}
