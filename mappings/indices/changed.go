package indices

import (
	"context"

	"riskdex/report"
)

// MappingChanged reports whether the index that the alias of a kind writes to was made from
// other mapping files than the Set's, so that a rebuild would change it. It returns false
// if there is no such index.
func (x *Indices) MappingChanged(ctx context.Context, kind report.Kind) (bool, error) {
	s, err := x.state(ctx, kind)
	if err != nil || s.written() == "" {
		return false, err
	}
	return s.indices[s.written()].Mappings.Meta.notes().Hash != x.Set.Hash(kind), nil
}
