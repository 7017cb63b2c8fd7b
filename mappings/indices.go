package mappings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/go-json-experiment/json"

	"riskdex/report"
)

// templatePriority is above what Elasticsearch and most tools give their own
// templates, so that a template for "*" does not take the place of ours.
const templatePriority = 500

// Indices sees to it that the indices of a cluster exist as a Set wants them.
// It may be used concurrently.
//
// Apps search an alias, such as cities. Behind it is one index, such as
// cities-v1; a rebuild makes the next one.
type Indices struct {
	Client *elasticsearch.Client
	Prefix string // before every alias, index and template
	Set    *Set
	Log    *slog.Logger

	mu      sync.Mutex
	current map[report.Kind]bool // this process has written the template
}

// Alias returns what apps search, and what documents are written to.
func (x *Indices) Alias(kind report.Kind) string { return x.Prefix + string(kind) }

// Index returns the name of the n-th index of a kind, from 1.
func (x *Indices) Index(kind report.Kind, n int) string {
	return x.Alias(kind) + "-v" + strconv.Itoa(n)
}

// Template returns the name of the index template of a kind.
func (x *Indices) Template(kind report.Kind) string { return x.Prefix + "riskdex-" + string(kind) }

// Ensure makes the alias of a kind exist, with an index behind it:
//
//   - Where the alias is there, it is left alone, whatever it points to.
//   - Where only an index is there, the highest one gets the alias. What it
//     holds is unknown: an abandoned rebuild, or the past.
//   - Where there is none, the first one is created together with the alias.
//
// In the latter two cases it first calls resend, which is to mark every document
// of the kind to be sent again; nothing is changed when that fails. Once in a
// process it also brings the index template up to date. Ensure may be repeated,
// and several processes may call it at the same time. An error wraps a
// *ResponseError when it is an answer of Elasticsearch.
func (x *Indices) Ensure(ctx context.Context, kind report.Kind, resend func(context.Context) error) error {
	if err := x.ensureTemplate(ctx, kind); err != nil {
		return err
	}
	const attempts = 3 // each lost only to another process that made the index or removed it
	var err error
	for range attempts {
		var again bool
		if again, err = x.ensureAlias(ctx, kind, resend); err == nil || !again {
			return err
		}
	}
	return err
}

func (x *Indices) ensureAlias(ctx context.Context, kind report.Kind, resend func(context.Context) error) (again bool, err error) {
	exists, err := x.aliasExists(ctx, kind)
	if exists || err != nil {
		return false, err
	}
	highest, err := x.highest(ctx, kind)
	if err != nil {
		return false, err
	}
	if err := resend(ctx); err != nil {
		return false, fmt.Errorf("having every document of %s sent again, before its index is made: %w", kind, err)
	}
	if highest > 0 {
		err := x.addAlias(ctx, kind, highest)
		return isType(err, "index_not_found_exception"), err
	}
	err = x.create(ctx, kind)
	return isType(err, "resource_already_exists_exception"), err
}

func (x *Indices) aliasExists(ctx context.Context, kind report.Kind) (bool, error) {
	alias := x.Alias(kind)
	_, err := perform(ctx, x.Client, esapi.IndicesGetAliasRequest{Name: []string{alias}})
	if response, ok := errors.AsType[*ResponseError](err); ok && response.Status == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for the alias %s: %w", alias, err)
	}
	return true, nil
}

// highest returns the number of the latest index of a kind, or 0.
func (x *Indices) highest(ctx context.Context, kind report.Kind) (int, error) {
	pattern := x.Alias(kind) + "-v*"
	body, err := perform(ctx, x.Client, esapi.IndicesGetAliasRequest{Index: []string{pattern}})
	if err != nil {
		return 0, fmt.Errorf("looking for indices %s: %w", pattern, err)
	}
	var indices map[string]struct{}
	if err := json.Unmarshal(body, &indices); err != nil {
		return 0, fmt.Errorf("looking for indices %s: reading the answer: %w", pattern, err)
	}
	highest := 0
	for name := range indices {
		n, err := strconv.Atoi(strings.TrimPrefix(name, x.Alias(kind)+"-v"))
		if err == nil && x.Index(kind, n) == name {
			highest = max(highest, n)
		}
	}
	return highest, nil
}

func (x *Indices) addAlias(ctx context.Context, kind report.Kind, n int) error {
	index, alias := x.Index(kind, n), x.Alias(kind)
	body, err := json.Marshal(aliasBody{IsWriteIndex: true})
	if err != nil {
		return err
	}
	_, err = perform(ctx, x.Client, esapi.IndicesPutAliasRequest{
		Index: []string{index}, Name: alias, Body: bytes.NewReader(body),
	})
	if err != nil {
		return fmt.Errorf("giving the index %s the alias %s: %w", index, alias, err)
	}
	x.Log.WarnContext(ctx, "the alias was missing; it is on the latest index again", "alias", alias, "index", index)
	return nil
}

// create makes the first index. The template comes along: where the index is
// gone, the template may have gone with it.
func (x *Indices) create(ctx context.Context, kind report.Kind) error {
	if err := x.putTemplate(ctx, kind); err != nil {
		return err
	}
	index, alias := x.Index(kind, 1), x.Alias(kind)
	content, err := x.Set.index.body(x.Set.hashes[kind])
	if err != nil {
		return err
	}
	content.Aliases = map[string]aliasBody{alias: {IsWriteIndex: true}}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	_, err = perform(ctx, x.Client, esapi.IndicesCreateRequest{Index: index, Body: bytes.NewReader(body)})
	if isType(err, "invalid_alias_name_exception") {
		return fmt.Errorf("creating the index %s with the alias %s: an index has the alias's name; "+
			"copy what you need of it and delete it: %w", index, alias, err)
	}
	if err != nil {
		return fmt.Errorf("creating the index %s with the alias %s: %w", index, alias, err)
	}
	x.Log.InfoContext(ctx, "created an index", "index", index, "alias", alias)
	return nil
}

func isType(err error, errorType string) bool {
	response, ok := errors.AsType[*ResponseError](err)
	return ok && response.Type == errorType
}
