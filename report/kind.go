package report

import (
	"fmt"
	"slices"
)

// Kind is one of the three kinds of content that the publisher delivers, or
// [Probe]. Its text is the same everywhere: the collection in the path of a
// delivery, the alias that apps search, the field `kind` of a document and the
// label `kind` of a metric.
type Kind string

// The kinds of the delivery interface.
const (
	Cities         Kind = "cities"
	Advisories     Kind = "advisories"
	SpecialReports Kind = "special-reports"
)

// Probe is riskdex's own kind. It has one document, which riskdex writes the way a delivery
// goes to measure how long it takes until a search finds it. It is not content: nobody can
// deliver it, and figures about documents and changes leave it out.
const Probe Kind = "probe"

// Kinds returns every kind of content, always in the same order.
func Kinds() []Kind { return []Kind{Cities, Advisories, SpecialReports} }

// AllKinds returns every kind that has an index: the kinds of content, followed by Probe.
func AllKinds() []Kind { return append(Kinds(), Probe) }

// CheckKind returns an error unless k is one of AllKinds.
func CheckKind(k Kind) error {
	if slices.Contains(AllKinds(), k) {
		return nil
	}
	return fmt.Errorf("no kind is called %q; the kinds are %v", k, AllKinds())
}

// ParseKind returns the kind of content whose text is s.
func ParseKind(s string) (Kind, error) {
	if k := Kind(s); slices.Contains(Kinds(), k) {
		return k, nil
	}
	return "", fmt.Errorf("no kind is called %q; the kinds are %v", s, Kinds())
}
