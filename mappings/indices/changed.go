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
