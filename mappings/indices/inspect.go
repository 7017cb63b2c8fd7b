package indices

import (
	"context"

	"riskdex/report"
)

// Inspection describes the indices that a cluster has of a kind.
type Inspection struct {
	Index   string             // that apps are to search; empty if there is none, or it is not clear which
	Wrong   *report.WrongAlias // what is wrong with the alias; nil if nothing is
	Line    string             // of the journal that fills the index; empty if it does not say
	Ours    bool               // it is as riskdex left it; otherwise every document is sent to it
	Changed bool               // it was made from another mapping, and is rebuilt
}

// Inspect looks at the indices of a kind, and changes nothing.
func (x *Indices) Inspect(ctx context.Context, kind report.Kind) (Inspection, error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return Inspection{}, err
	}
	i := Inspection{Index: x.meant(kind, s)}
	i.Wrong = s.wrong(kind, i.Index)
	if i.Index != "" {
		notes := s.indices[i.Index].Mappings.Meta.notes()
		i.Line, i.Ours, i.Changed = notes.Line, i.Index == x.kept(kind, s), notes.Hash != x.Set.Hash(kind)
	}
	return i, nil
}

// Privileges are what riskdex needs in Elasticsearch, as its API names them.
type Privileges struct {
	Cluster []string         `json:"cluster"`
	Index   []IndexPrivilege `json:"index"`
}

// IndexPrivilege lists the privileges that are needed for indices and aliases with these
// names.
type IndexPrivilege struct {
	Names      []string `json:"names"`
	Privileges []string `json:"privileges"`
}

// Privileges returns the privileges that are needed for the indices of some kinds.
func (x *Indices) Privileges(kinds []report.Kind) Privileges {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = x.Alias(kind) + "*"
	}
	return Privileges{
		Cluster: []string{"monitor", "manage_index_templates"},
		Index:   []IndexPrivilege{{names, []string{"read", "write", "manage"}}},
	}
}
