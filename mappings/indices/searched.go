package indices

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"riskdex/report"
)

// The alias that apps search is to be exactly one index, without a filter or a routing: the one that
// riskdex keeps up to date, which its mark tells, and which is written to by its own name. Whatever
// else is behind the alias is somebody else's doing, and told until it is put right.

// kept returns the index that riskdex keeps up to date, wherever the alias is; empty if none is
// known to be. Of several, an index with its own mark comes before one without a mark.
func (x *Indices) kept(kind report.Kind, s state) string {
	kept := slices.DeleteFunc(s.with(s.alias+filled), func(name string) bool { return !x.isFilled(kind, s, name) })
	if len(kept) > 1 {
		kept = slices.DeleteFunc(kept, func(name string) bool { return s.indices[name].Mappings.Meta.notes().identity == identity{} })
	}
	if len(kept) != 1 {
		return ""
	}
	return kept[0]
}

// meant returns the index that apps are to search: the one that is kept up to date, or else
// the only one behind the alias. It is empty if there is none.
func (x *Indices) meant(kind report.Kind, s state) string {
	if kept := x.kept(kind, s); kept != "" {
		return kept
	}
	if behind := s.with(s.alias); len(behind) == 1 {
		return behind[0]
	}
	return ""
}

// taken returns the index, or that of a data stream, which has the name of the alias; empty if
// there is none.
func (s state) taken() string {
	for name, index := range s.indices {
		if !index.has(s.alias) && !strings.HasPrefix(name, s.alias+"-v") {
			return name
		}
	}
	return ""
}

// wrong returns what is wrong with the alias, given the index that apps are to search; nil if
// nothing is, or if the alias is missing, which Ensure mends.
func (s state) wrong(kind report.Kind, index string) *report.WrongAlias {
	w := &report.WrongAlias{Kind: kind, Alias: s.alias}
	behind, taken := s.with(s.alias), s.taken()
	others := slices.DeleteFunc(slices.Clone(behind), func(name string) bool { return name == index })
	on, is := s.indices[index].Aliases[s.alias]
	switch {
	case taken == s.alias:
		w.Detail = fmt.Sprintf("an index has the name %s, which the alias that apps search needs", s.alias)
		w.Remedy = fmt.Sprintf("copy what you need of it, then: curl -X DELETE ELASTICSEARCH/%s", s.alias)
		return w
	case taken != "":
		w.Detail = fmt.Sprintf("a data stream has the name %s, which the alias that apps search needs", s.alias)
		w.Remedy = fmt.Sprintf("copy what you need of it, then: curl -X DELETE ELASTICSEARCH/_data_stream/%s", s.alias)
		return w
	case index == "" && len(behind) > 1:
		w.Detail = fmt.Sprintf("the alias %s leads to %s, and it is not known which of them this journal fills: apps find documents of others, or twice", s.alias, strings.Join(behind, " and "))
		index = cmp.Or(s.latest(func(name string) bool { return s.indices[name].has(s.alias) }), behind[0])
		others = slices.DeleteFunc(others, func(name string) bool { return name == index })
	case len(others) > 0 && is:
		w.Detail = fmt.Sprintf("the alias %s leads to %s as well as to %s, which alone this journal fills: apps find documents of others, or twice", s.alias, strings.Join(others, " and "), index)
	case len(others) > 0:
		w.Detail = fmt.Sprintf("the alias %s leads to %s, and not to %s, which this journal fills: apps find documents of others", s.alias, strings.Join(others, " and "), index)
	case on.Filter != nil || on.Routing != "" || on.SearchRouting != "":
		w.Detail = fmt.Sprintf("the alias %s has a filter or a routing: apps find only a part of %s", s.alias, index)
	default:
		return nil
	}
	var actions []aliasAction
	for _, name := range others {
		actions = append(actions, remove(name, s.alias))
	}
	body, _ := json.Marshal(aliasActions{append(actions, s.addWritten(index))}) // strings and booleans only
	w.Remedy = fmt.Sprintf("curl -X POST ELASTICSEARCH/_aliases -H 'Content-Type: application/json' -d '%s'", body)
	return w
}

// CheckSearched returns an error if another journal fills the index of a kind, as CheckLineage
// does, and a *report.WrongAlias if the alias that apps search leads to something else than the
// index that this one fills.
func (x *Indices) CheckSearched(ctx context.Context, kind report.Kind) error {
	s, err := x.state(ctx, kind)
	if err == nil {
		err = x.checkLineage(ctx, kind, s)
	}
	if err != nil {
		return err
	}
	if w := s.wrong(kind, x.meant(kind, s)); w != nil {
		return w
	}
	return nil
}
