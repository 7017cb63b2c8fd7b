package indices

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/elastic"
	"riskdex/mappings"
	"riskdex/report"
)

// Indices makes sure that the indices of a cluster exist as a Set defines them. It is safe
// for concurrent use.
//
// Apps search an alias, such as cities. Behind it is one index, such as cities-v1; a
// rebuild makes the next one. Further aliases, such as cities-rebuilding, record the role
// of an index.
type Indices struct {
	Client  *elastic.Client
	Prefix  string // before every alias, index and template
	Set     *mappings.Set
	Lineage string // of the journal that fills them; empty if there is none
	Log     *slog.Logger

	mu      sync.Mutex
	current map[report.Kind]bool     // this process has written the template
	seen    map[report.Kind]identity // of the index that was last behind the alias
	filled  map[report.Kind]bool     // this process has filled an index of the kind
	notOurs map[report.Kind]error    // why the index is not this journal's
}

// Alias returns the alias that apps search and documents are written to.
func (x *Indices) Alias(kind report.Kind) string { return x.Prefix + string(kind) }

// Index returns the name of the n-th index of a kind, from 1.
func (x *Indices) Index(kind report.Kind, n int) string {
	return x.Alias(kind) + "-v" + strconv.Itoa(n)
}

// Template returns the name of the index template of a kind.
func (x *Indices) Template(kind report.Kind) string { return x.Prefix + "riskdex-" + string(kind) }

// Ensure makes sure that there is an index of a kind that is known to be filled, with the alias that
// apps search, and returns its name:
//
//   - An index that riskdex keeps up to date, by its mark, is that index. It gets the alias if the
//     alias is missing. If the alias leads elsewhere, it stays there.
//   - Otherwise it is the only index behind the alias. It was restored, is a copy, or somebody else
//     has put it there, so nobody knows what it holds.
//   - Without an alias it is the latest index, if that has this mapping. Nobody knows what it holds.
//   - Otherwise a new index is created together with the alias.
//   - If another journal fills the index, it is left alone. A take-over that nobody
//     continues is undone: its new index is deleted.
//
// If the index is new or nobody knows what it holds, Ensure first calls resend, which must
// mark every document of the kind to be sent again; if that fails, nothing is changed. Then
// it deletes what a rebuild has left unfinished. Once per process it also brings the index
// template up to date.
//
// Ensure may be repeated, and several processes may call it at the same time. An error
// wraps a *elastic.ResponseError if it is an answer of Elasticsearch, and
// report.ErrAnotherJournal or report.ErrUndecided if the index is not this journal's, or
// not yet. It is a *report.WrongAlias if the alias leads to anything but the index, which is
// returned too, so that it can be written to meanwhile; its name is empty if it is not known. With
// report.ErrAnotherJournal comes the name of the index that apps search, if any.
func (x *Indices) Ensure(ctx context.Context, kind report.Kind, resend func(context.Context) error) (index string, err error) {
	const attempts = 3 // one fails only if another process creates or removes the index meanwhile
	for range attempts {
		var again bool
		if index, again, err = x.ensureAlias(ctx, kind, resend); err == nil || !again {
			if err == nil {
				x.setNotOurs(kind, nil)
			}
			return index, err
		}
	}
	return "", err
}

func (x *Indices) ensureAlias(ctx context.Context, kind report.Kind, resend func(context.Context) error) (index string, again bool, err error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return "", false, err
	}
	takeOver, err := x.checkOwner(ctx, kind, s)
	if errors.Is(err, report.ErrAnotherJournal) {
		if undo := x.undo(ctx, kind, s, resend); undo != nil {
			return "", false, undo
		}
		return x.meant(kind, s), false, err
	}
	if err != nil {
		return "", false, err
	}
	if err := x.ensureTemplate(ctx, kind); err != nil {
		return "", false, err
	}
	index = x.kept(kind, s)
	if index != "" && !takeOver {
		return x.ensureKept(ctx, kind, s, index)
	}
	if index = x.meant(kind, s); index == "" {
		if wrong := s.wrong(kind, ""); wrong != nil {
			return "", false, wrong
		}
	}
	if err := x.startOver(ctx, kind, s, s.inRole(rebuilding), resend); err != nil {
		return "", false, err
	}
	if index == "" {
		index = s.latest(func(name string) bool { return s.indices[name].Mappings.Meta.notes().Hash == x.Set.Hash(kind) })
	}
	if index == "" {
		index = x.Index(kind, s.indices[s.latest(anyIndex)].number+1)
		err = x.create(ctx, kind, index, map[string]aliasBody{s.alias: {IsWriteIndex: yes()}, s.alias + filled: {}})
		return index, isType(err, "resource_already_exists_exception") || isType(err, indexMissing), err
	}
	if err := x.keep(ctx, s, index); err != nil {
		return "", isType(err, indexMissing), err
	}
	if err := x.mark(ctx, s, index); err != nil {
		return "", isType(err, indexMissing), err
	}
	x.remember(kind, s.indices[index].id())
	if wrong := s.wrong(kind, index); wrong != nil {
		return index, false, wrong
	}
	return index, false, nil
}

// ensureKept is Ensure for an index that is known to be filled.
func (x *Indices) ensureKept(ctx context.Context, kind report.Kind, s state, index string) (_ string, again bool, err error) {
	if s.indices[index].Settings.Index.Closed == "true" {
		return "", false, &elastic.ResponseError{Status: http.StatusBadRequest, Type: "index_closed_exception", Reason: "the index " + index + " is closed"}
	}
	wrong := s.wrong(kind, index)
	if wrong == nil && !s.indices[index].has(s.alias) {
		if err := x.changeAliases(ctx, []aliasAction{s.addWritten(index)}); err != nil {
			return "", isType(err, indexMissing), fmt.Errorf("giving the index %s the alias %s: %w", index, s.alias, err)
		}
		x.Log.WarnContext(ctx, "the alias was missing; it is on the index again", "alias", s.alias, "index", index)
	}
	if err := x.trust(ctx, kind, s, index); err != nil {
		return "", isType(err, indexMissing), err
	}
	if wrong != nil {
		return index, false, wrong
	}
	return index, false, nil
}

// isFilled reports whether an index is the one that riskdex keeps up to date, as riskdex
// left it. Without a mark, it is not if this process has seen another.
func (x *Indices) isFilled(kind report.Kind, s state, index string) bool {
	i := s.indices[index]
	if !i.has(s.alias+filled) || i.has(s.alias+retired) {
		return false
	}
	if marked := i.Mappings.Meta.notes().identity; marked != (identity{}) {
		return marked == i.id()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen[kind] == (identity{}) || x.seen[kind] == i.id()
}

// hasFilled reports whether this process has filled an index of a kind, whether or not it is still there.
func (x *Indices) hasFilled(kind report.Kind) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.filled[kind]
}

// remember records which index is behind the alias, and reports whether that is new.
func (x *Indices) remember(kind report.Kind, id identity) (first bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.seen == nil {
		x.seen, x.filled = make(map[report.Kind]identity), make(map[report.Kind]bool)
	}
	first = x.seen[kind] != id
	x.seen[kind] = id
	x.filled[kind] = x.filled[kind] || id != identity{}
	return first
}

// Forget is called after another process has managed the indices of a kind. Ensure then accepts them
// as that process has left them.
func (x *Indices) Forget(kind report.Kind) { x.remember(kind, identity{}) }

// startOver has everything sent again, and deletes indices that rebuilds left unfinished:
// rebuilds rely on an index behind the alias that lacks nothing.
func (x *Indices) startOver(ctx context.Context, kind report.Kind, s state, unfinished []string, resend func(context.Context) error) error {
	if err := resend(ctx); err != nil {
		return fmt.Errorf("having every document of %s sent again, before its index is used: %w", kind, err)
	}
	for _, name := range unfinished {
		if err := x.Remove(ctx, kind, name); err != nil {
			return err
		}
		delete(s.indices, name)
	}
	x.Forget(kind)
	return nil
}

// keep puts the alias on an existing index, or leaves it there, and marks the index as
// filled: everything has been ordered for it.
func (x *Indices) keep(ctx context.Context, s state, index string) error {
	var actions []aliasAction
	missing := len(s.with(s.alias)) == 0
	if missing {
		actions = append(actions, s.addWritten(index))
	}
	for _, role := range []string{retired, rebuilding} {
		if s.indices[index].has(s.alias + role) {
			actions = append(actions, remove(index, s.alias+role))
		}
	}
	if err := x.changeAliases(ctx, append(actions, s.moveFilled(index)...)); err != nil {
		return fmt.Errorf("giving the index %s the alias %s: %w", index, s.alias, err)
	}
	if missing {
		x.Log.WarnContext(ctx, "the alias was missing; it is on the latest index again", "alias", s.alias, "index", index)
	} else {
		x.Log.WarnContext(ctx, "the alias is on an index that riskdex does not know, or that was restored; every document is sent to it", "alias", s.alias, "index", index)
	}
	return nil
}

// create creates an index with aliases, and marks it. It also writes the template, which
// may have been deleted together with the index.
func (x *Indices) create(ctx context.Context, kind report.Kind, index string, aliases map[string]aliasBody) error {
	if err := x.putTemplate(ctx, kind); err != nil {
		return err
	}
	content, err := x.body(kind)
	if err != nil {
		return err
	}
	for name, alias := range aliases {
		alias.IsHidden = hidden(kind)
		aliases[name] = alias
	}
	content.Aliases = aliases
	if x.Lineage != "" {
		if content, err = x.withLineage(content); err != nil {
			return err
		}
	}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	_, err = x.Client.Ask(ctx, esapi.IndicesCreateRequest{Index: index, Body: bytes.NewReader(body)}, elastic.Created(index))
	if err != nil {
		return fmt.Errorf("creating the index %s: %w", index, err)
	}
	x.Log.InfoContext(ctx, "created an index", "index", index)
	s, err := x.state(ctx, kind)
	if err != nil {
		return err
	}
	return x.mark(ctx, s, index)
}

const indexMissing = "index_not_found_exception"

func isType(err error, errorType string) bool {
	response, ok := errors.AsType[*elastic.ResponseError](err)
	return ok && response.Type == errorType
}
