package indices

import (
	"context"
	"fmt"

	"riskdex/report"
)

// followed is the checkpoint of a follower of a journal: everything before it in the feed is
// in the index that has this identity, and maybe not in one that was copied from it, or
// restored.
type followed struct {
	Cursor string   `json:"cursor"`
	Index  identity `json:"index"`
}

// Checkpoint returns the cursor that SetCheckpoint has kept in the index that is kept up to date; empty
// if there is none, or if it is about another index.
func (x *Indices) Checkpoint(ctx context.Context, kind report.Kind) (cursor string, err error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return "", err
	}
	i := s.indices[x.kept(kind, s)]
	if f := i.Mappings.Meta.notes().Followed; f != nil && f.Index == i.id() {
		return f.Cursor, nil
	}
	return "", nil
}

// SetCheckpoint keeps a cursor in the index that riskdex keeps up to date. Of any other, such as one that somebody restored, Ensure has yet to find out that it
// lacks something: with the cursor, that would never be sent.
func (x *Indices) SetCheckpoint(ctx context.Context, kind report.Kind, cursor string) error {
	s, err := x.state(ctx, kind)
	if err != nil {
		return err
	}
	index := x.kept(kind, s)
	if index == "" {
		return fmt.Errorf("no index of %s is known to be the one that was filled", s.alias)
	}
	n, now := s.indices[index].Mappings.Meta.notes(), followed{cursor, s.indices[index].id()}
	if n.Followed != nil && *n.Followed == now {
		return nil
	}
	n.Followed = &now
	return x.note(ctx, s, index, n)
}
