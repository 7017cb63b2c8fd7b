package elastictest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// nameLength keeps names with a prefix far below the 255 bytes of an index name.
const nameLength = 60

// Prefix returns the beginning of the names of everything that a test creates: lower
// case, with the test's name, ending in a dash, and never the same twice. When the test
// ends, the indices, aliases and templates with such names are deleted.
func Prefix(t testing.TB) string {
	t.Helper()
	server := URL(t)
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(t.Name()), "-")
	prefix := strings.Trim(name[:min(len(name), nameLength)], "-") + "-" + strings.ToLower(rand.Text()[:10]) + "-"
	t.Cleanup(func() {
		if err := clean(server, prefix); err != nil {
			t.Errorf("delete what the test created as %s*: %v", prefix, err)
		}
	})
	return prefix
}

// clean deletes everything whose name has the prefix: all of a kind at once, because each change of
// its metadata costs the server some 40 ms of CPU. It names each thing, because the server refuses
// to delete by pattern; aliases are deleted with their indices.
func clean(server, prefix string) error {
	c := cleaner{&http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}, server}

	var indices, blocked map[string]json.RawMessage
	if err := c.do(http.MethodGet, "/"+prefix+"*/_settings/index.blocks.*?expand_wildcards=all", "", &blocked); err != nil {
		return err
	}
	for index := range blocked { // a read-only index cannot be deleted
		if err := c.do(http.MethodPut, "/"+url.PathEscape(index)+"/_settings", `{"index.blocks.read_only": null, "index.blocks.metadata": null}`, nil); err != nil {
			return err
		}
	}
	if err := c.do(http.MethodGet, "/"+prefix+"*/_alias?expand_wildcards=all", "", &indices); err != nil {
		return err
	}
	if err := c.delete("/", "?ignore_unavailable=true", slices.Collect(maps.Keys(indices))); err != nil {
		return err
	}
	for _, kind := range []struct{ path, list string }{
		{"/_index_template/", "index_templates"},
		{"/_component_template/", "component_templates"},
	} {
		var answer map[string][]struct{ Name string }
		if err := c.do(http.MethodGet, kind.path+prefix+"*", "", &answer); err != nil {
			return err
		}
		var names []string
		for _, template := range answer[kind.list] {
			names = append(names, template.Name)
		}
		if err := c.delete(kind.path, "", names); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes things of one kind.
func (c cleaner) delete(path, query string, names []string) error {
	for some := range slices.Chunk(names, 20) { // a path has its bounds
		for i, name := range some {
			some[i] = url.PathEscape(name)
		}
		if err := c.do(http.MethodDelete, path+strings.Join(some, ",")+query, "", nil); err != nil {
			return err
		}
	}
	return nil
}

type cleaner struct {
	http   *http.Client
	server string
}

// do sends a request and decodes the answer into out unless that is nil. A missing thing
// is not an error.
func (c cleaner) do(method, path, body string, out any) error {
	req, err := http.NewRequest(method, c.server+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if res.StatusCode == http.StatusNotFound {
		return nil
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, bytes.TrimSpace(answer))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
