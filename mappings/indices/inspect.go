package indices

import (
	"context"

	"riskdex/report"
)

// Inspection is what a cluster has of a kind.
type Inspection struct {
	Indices []string // behind the alias
	Written string   // of these, the one that is written to; empty where none, or it is not clear which
	Line    string   // of the journal that fills it; empty where it does not say
	Ours    bool     // it was left as riskdex leaves it; otherwise every document is sent to it
	Changed bool     // it was made from another mapping: it is rebuilt
	Taken   bool     // an index has the name of the alias, so there can be no alias
}

// Inspect looks at the indices of a kind, and changes nothing.
func (x *Indices) Inspect(ctx context.Context, kind report.Kind) (Inspection, error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return Inspection{}, err
	}
	i := Inspection{Indices: s.with(s.alias), Written: s.written()}
	_, i.Taken = s.indices[s.alias]
	if i.Written != "" {
		notes := s.indices[i.Written].Mappings.Meta.notes()
		i.Line, i.Ours, i.Changed = notes.Line, x.isFilled(kind, s, i.Written), notes.Hash != x.Set.Hash(kind)
	}
	return i, nil
}

// Privileges are what riskdex needs in Elasticsearch, as its API names them.
type Privileges struct {
	Cluster []string         `json:"cluster"`
	Index   []IndexPrivilege `json:"index"`
}

// IndexPrivilege is what is needed of the indices and aliases with some names.
type IndexPrivilege struct {
	Names      []string `json:"names"`
	Privileges []string `json:"privileges"`
}

// Privileges returns what is needed for the indices of some kinds.
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
