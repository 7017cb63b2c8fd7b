package indices

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/elastic"
	"riskdex/report"
)

// Leftovers returns the indices that an earlier process has left: those that it
// was filling, and those that apps no longer search.
func (x *Indices) Leftovers(ctx context.Context, kind report.Kind) (unfinished, old []string, err error) {
	s, err := x.state(ctx, kind)
	return s.inRole(rebuilding), s.inRole(retired), err
}

// Next returns the name that the next index of a kind will have.
func (x *Indices) Next(ctx context.Context, kind report.Kind) (string, error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return "", err
	}
	return x.Index(kind, s.indices[s.latest(anyIndex)].number+1), nil
}

// Create creates an index with the current mapping beside the one behind the alias, to be
// filled. Apps do not see it.
func (x *Indices) Create(ctx context.Context, kind report.Kind, index string) error {
	return x.create(ctx, kind, index, map[string]aliasBody{x.Alias(kind) + rebuilding: {}})
}

// Refresh makes everything that was written to an index visible, checks that it can be
// searched, and returns how many documents it has.
func (x *Indices) Refresh(ctx context.Context, index string) (documents int, err error) {
	if err := x.Client.Refresh(ctx, index); err != nil {
		return 0, fmt.Errorf("refreshing the index %s: %w", index, err)
	}
	const longestWait = 20 * time.Second
	_, err = x.Client.Ask(ctx, esapi.ClusterHealthRequest{Index: []string{index}, WaitForStatus: "yellow", Timeout: longestWait}, elastic.Ready)
	if err != nil {
		return 0, fmt.Errorf("waiting until the index %s can be searched: %w", index, err)
	}
	body, err := x.Client.Ask(ctx, esapi.CountRequest{Index: []string{index}}, elastic.Counted)
	var answer struct {
		Count int `json:"count"`
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil {
		return 0, fmt.Errorf("counting the documents of the index %s: %w", index, err)
	}
	return answer.Count, nil
}

// Swap moves the alias of a kind from one index to another, which Create has made, in one
// step: every search sees either the one or the other. Afterwards the alias is on no other index,
// whatever somebody else had done to it. It fails if from is no longer the index that apps are to
// search, or if from is empty and the alias is on any index. It succeeds if to is that index already.
func (x *Indices) Swap(ctx context.Context, kind report.Kind, from, to string) error {
	s, err := x.state(ctx, kind)
	if err != nil {
		return err
	}
	behind := s.with(s.alias)
	if slices.Contains(s.inRole(filled), to) && slices.Equal(behind, []string{to}) {
		x.Forget(kind)
		return nil
	}
	if i := s.indices[from]; from == "" && len(behind) > 0 || from != "" && !i.has(s.alias) && !i.has(s.alias+filled) {
		return &elastic.ResponseError{Status: http.StatusConflict, Reason: fmt.Sprintf(
			"somebody has changed the index that apps search since the rebuild began: it was %q, and the alias %s is on %q; rebuild again", from, s.alias, strings.Join(behind, " and "))}
	}
	actions := []aliasAction{s.addWritten(to), remove(to, s.alias+rebuilding)}
	for _, name := range behind {
		if name != to {
			actions = append(actions, remove(name, s.alias))
		}
	}
	actions = append(actions, s.moveFilled(to)...)
	if s.indices[from].number > 0 {
		actions = append(actions, s.add(from, s.alias+retired))
	}
	if err := x.changeAliases(ctx, actions); err != nil {
		return fmt.Errorf("moving the alias %s from the index %s to %s: %w", s.alias, from, to, err)
	}
	x.Forget(kind)
	return nil
}

// Remove deletes an index that was being filled, or that is retired. It leaves any other
// alone, such as one that has a further alias, or one that riskdex has not made. It
// succeeds if the index is gone already.
func (x *Indices) Remove(ctx context.Context, kind report.Kind, index string) error {
	s, err := x.state(ctx, kind)
	if err != nil {
		return err
	}
	found, ok := s.indices[index]
	if !ok {
		return nil
	}
	made := found.number > 0 && found.Mappings.Meta.notes().Hash != "" && !found.copied()
	if !made || !found.only(s.alias+rebuilding) && !found.only(s.alias+retired) {
		x.Log.InfoContext(ctx, "an index that was to be deleted stays: it is in use again, or was not made by riskdex", "index", index)
		return nil
	}
	_, err = x.Client.Ask(ctx, esapi.IndicesDeleteRequest{Index: []string{index}}, elastic.Acknowledged)
	if err != nil && !isType(err, indexMissing) {
		return fmt.Errorf("deleting the index %s: %w", index, err)
	}
	x.Log.InfoContext(ctx, "deleted an index", "index", index)
	return nil
}
