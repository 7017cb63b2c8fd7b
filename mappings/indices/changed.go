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

// MarkUnfilled marks the index of a kind, if it has no documents, as made from the Set's mapping as it is now,
// and reports whether it did.
func (x *Indices) MarkUnfilled(ctx context.Context, kind report.Kind) (done bool, err error) {
	s, err := x.state(ctx, kind)
	kept := x.kept(kind, s)
	if err != nil || kept == "" {
		return false, err
	}
	if documents, err := x.Refresh(ctx, kept); err != nil || documents > 0 {
		return false, err
	}
	n := s.indices[kept].Mappings.Meta.notes()
	n.Hash = x.Set.Hash(kind)
	return true, x.note(ctx, s, kept, n)
}
