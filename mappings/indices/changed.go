package indices

import (
	"context"

	"riskdex/report"
)

// MappingChanged reports whether the index of a kind that riskdex keeps up to date was made from
// other mapping files than the Set's, so that a rebuild would change it. It returns false
// if there is no such index.
func (x *Indices) MappingChanged(ctx context.Context, kind report.Kind) (bool, error) {
	s, err := x.state(ctx, kind)
	kept := x.kept(kind, s)
	if err != nil || kept == "" {
		return false, err
	}
	return s.indices[kept].Mappings.Meta.notes().Hash != x.Set.Hash(kind), nil
}

// MarkUnfilled marks the index of a kind, to which nothing was sent yet, as made from the Set's mapping as it is
// now. There need not be one.
func (x *Indices) MarkUnfilled(ctx context.Context, kind report.Kind) error {
	s, err := x.state(ctx, kind)
	kept := x.kept(kind, s)
	if err != nil || kept == "" {
		return err
	}
	n := s.indices[kept].Mappings.Meta.notes()
	n.Hash = x.Set.Hash(kind)
	return x.note(ctx, s, kept, n)
}
