package indices

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/elastic"
	"riskdex/report"
)

// Besides the alias that apps search, an index may have an alias with one of these
// suffixes. It records the role of the index, and moves in the same step as the alias that
// apps search, so that no crash leaves an index that is taken for what it is not.
const (
	// filled: the journal has been told to send this index everything. An index
	// behind the alias without it was put there by somebody else.
	filled = "-filled"
	// rebuilding: the index is being filled beside the one that apps search.
	rebuilding = "-rebuilding"
	// retired: apps searched the index until a rebuild took its place.
	retired = "-retired"
)

// state is what a cluster has of a kind: the indices called <alias>-v<n>, and any other
// that the alias is on.
type state struct {
	alias   string
	hidden  *bool // is_hidden of every alias of the kind; nil if apps may see it
	indices map[string]indexState
}

type indexState struct {
	number   int                  // n of <alias>-v<n>; 0 if it has another name
	Aliases  map[string]aliasBody `json:"aliases"`
	Settings struct {
		Index struct {
			identity
			Closed string `json:"verified_before_close"`
		} `json:"index"`
	} `json:"settings"`
	Mappings struct {
		Meta meta `json:"_meta"`
	} `json:"mappings"`
}

// id returns the identity that Elasticsearch has given to the index.
func (i indexState) id() identity { return i.Settings.Index.identity }

// copied reports whether the index has the mark of another one: it was restored or copied, and the
// aliases that record a role came along with it.
func (i indexState) copied() bool {
	marked := i.Mappings.Meta.notes().identity
	return marked != (identity{}) && marked != i.id()
}

func (i indexState) has(alias string) bool {
	_, ok := i.Aliases[alias]
	return ok
}

// only reports whether alias is the only one of the index.
func (i indexState) only(alias string) bool { return i.has(alias) && len(i.Aliases) == 1 }

func (x *Indices) state(ctx context.Context, kind report.Kind) (state, error) {
	s, err := x.found(ctx, kind)
	if err != nil || len(s.indices) > 0 {
		return s, err
	}
	// An answer that has lost its content would have riskdex create an index.
	_, err = x.Client.Ask(ctx, esapi.IndicesGetRequest{Index: []string{s.alias}, FilterPath: []string{"*.settings.index.uuid", "error"}}, elastic.Indices)
	switch {
	case isType(err, indexMissing):
		return s, nil
	case err != nil:
		return s, fmt.Errorf("looking for the alias %s: %w", s.alias, err)
	}
	if s, err = x.found(ctx, kind); err == nil && len(s.indices) == 0 { // otherwise it was created meanwhile
		err = &elastic.UnclearError{Lacks: fmt.Errorf("there is an index of %s, and no pattern finds it", s.alias)}
	}
	return s, err
}

// found returns what the patterns of a kind find. It may be nothing.
func (x *Indices) found(ctx context.Context, kind report.Kind) (state, error) {
	s := state{alias: x.Alias(kind), hidden: hidden(kind)}
	body, err := x.Client.Ask(ctx, esapi.IndicesGetRequest{
		Index: []string{s.alias + "-v*", s.alias}, IgnoreUnavailable: yes(), ExpandWildcards: "all",
		Features:   "aliases,settings,mappings",
		FilterPath: []string{"*.aliases", "*.settings.index.uuid", "*.settings.index.history.uuid", "*.settings.index.verified_before_close", "*.mappings._meta", "error"},
	}, elastic.Indices)
	if err != nil {
		return s, fmt.Errorf("looking for the alias %s and its indices: %w", s.alias, err)
	}
	if err := json.Unmarshal(body, &s.indices); err != nil {
		return s, fmt.Errorf("looking for the alias %s and its indices: reading the answer: %w", s.alias, err)
	}
	for name, index := range s.indices {
		n, err := strconv.Atoi(strings.TrimPrefix(name, s.alias+"-v"))
		if err == nil && x.Index(kind, n) == name {
			index.number = n
			s.indices[name] = index
		}
	}
	return s, nil
}

// anyIndex makes latest consider every index.
func anyIndex(string) bool { return true }

// with returns the indices that have an alias, sorted by name.
func (s state) with(alias string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.indices)) {
		if s.indices[name].has(alias) {
			names = append(names, name)
		}
	}
	return names
}

// inRole returns the indices that an alias gives a role. A copy does not have that of its original.
func (s state) inRole(suffix string) []string {
	return slices.DeleteFunc(s.with(s.alias+suffix), func(name string) bool { return s.indices[name].copied() })
}

// latest returns the index with the highest number of those that are wanted, or "".
func (s state) latest(wanted func(name string) bool) string {
	highest, latest := 0, ""
	for name, index := range s.indices {
		if index.number > highest && wanted(name) {
			highest, latest = index.number, name
		}
	}
	return latest
}

// aliasAction is one action of a request that changes aliases: all of them
// happen in one step, or none.
type aliasAction map[string]aliasChange

type aliasActions struct {
	Actions []aliasAction `json:"actions"`
}

type aliasChange struct {
	Index        string `json:"index"`
	Alias        string `json:"alias"`
	IsWriteIndex *bool  `json:"is_write_index,omitzero"`
	IsHidden     *bool  `json:"is_hidden,omitzero"`
	MustExist    bool   `json:"must_exist,omitzero"`
}

// addWritten puts the alias that apps search on index, and makes it the write index.
func (s state) addWritten(index string) aliasAction {
	return aliasAction{"add": {Index: index, Alias: s.alias, IsWriteIndex: yes(), IsHidden: s.hidden}}
}

func yes() *bool { return new(true) }

func (s state) add(index, alias string) aliasAction {
	return aliasAction{"add": {Index: index, Alias: alias, IsHidden: s.hidden}}
}

func remove(index, alias string) aliasAction {
	return aliasAction{"remove": {Index: index, Alias: alias, MustExist: true}}
}

// moveFilled returns the actions after which only index is marked as filled.
func (s state) moveFilled(index string) []aliasAction {
	var actions []aliasAction
	for _, name := range s.with(s.alias + filled) {
		if name != index {
			actions = append(actions, remove(name, s.alias+filled))
		}
	}
	return append(actions, s.add(index, s.alias+filled))
}

func (x *Indices) changeAliases(ctx context.Context, actions []aliasAction) error {
	body, err := json.Marshal(aliasActions{actions})
	if err != nil {
		return err
	}
	_, err = x.Client.Ask(ctx, esapi.IndicesUpdateAliasesRequest{Body: bytes.NewReader(body)}, elastic.Acknowledged)
	return err
}
