// Package openapitest reads descriptions of HTTP interfaces (OpenAPI 3.1), and the routes
// that a router really has, so that tests can compare them.
package openapitest

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/julienschmidt/httprouter"
	"go.yaml.in/yaml/v3"

	"riskdex/internal/testkit/require"
)

// Document is the part of a description that tests compare.
type Document struct {
	Paths      map[string]map[string]any `yaml:"paths"`
	Components struct {
		Parameters map[string]struct {
			Name, In string
			Schema   Schema
		} `yaml:"parameters"`
		Schemas map[string]Schema `yaml:"schemas"`
	} `yaml:"components"`
}

// Schema is the schema of an object or an enumeration.
type Schema struct {
	Properties map[string]any `yaml:"properties"`
	Required   []string       `yaml:"required"`
	Enum       []string       `yaml:"enum"`
}

// Read reads a description.
func Read(t testing.TB, path string) (d Document) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
	return d
}

// Operations returns the calls of the description, such as "GET /cities/{}", in order. If
// a parameter of a path has one of a few values, there is a call for each of them: values
// has those, by the name of the parameter.
func (d Document) Operations(values map[string][]string) (calls []string) {
	for path, item := range d.Paths {
		for key := range item {
			if method := strings.ToUpper(key); slices.Contains(methods(), method) {
				for _, one := range expanded(path, values) {
					calls = append(calls, method+" "+one)
				}
			}
		}
	}
	slices.Sort(calls)
	return calls
}

// Queries returns the names in the query of each call, in the form of
// [Document.Operations].
func (d Document) Queries() map[string][]string {
	all := map[string][]string{}
	for path, item := range d.Paths {
		for key, operation := range item {
			if method := strings.ToUpper(key); slices.Contains(methods(), method) {
				names := d.queryNames(item["parameters"])
				if operation, ok := operation.(map[string]any); ok {
					names = append(names, d.queryNames(operation["parameters"])...)
				}
				all[method+" "+path] = names
			}
		}
	}
	return all
}

func (d Document) queryNames(parameters any) (names []string) {
	list, _ := parameters.([]any)
	for _, p := range list {
		p, _ := p.(map[string]any)
		if ref, ok := p["$ref"].(string); ok {
			if shared := d.Components.Parameters[ref[strings.LastIndexByte(ref, '/')+1:]]; shared.In == "query" {
				names = append(names, shared.Name)
			}
		} else if name, ok := p["name"].(string); ok && p["in"] == "query" {
			names = append(names, name)
		}
	}
	return names
}

func methods() []string {
	return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}
}

// expanded returns a path with every value of its first parameter, and then of the
// others.
func expanded(path string, values map[string][]string) (all []string) {
	before, rest, found := strings.Cut(path, "{")
	if !found {
		return []string{path}
	}
	name, after, _ := strings.Cut(rest, "}")
	these := values[name]
	if these == nil {
		these = []string{"{}"}
	}
	for _, value := range these {
		for _, end := range expanded(after, values) {
			all = append(all, before+value+end)
		}
	}
	return all
}

// Routes returns the calls for which router has handlers, in the form and the order of
// [Document.Operations]. The router has no list of them, so Routes walks its tree.
func Routes(router *httprouter.Router) (calls []string) {
	trees := reflect.ValueOf(router).Elem().FieldByName("trees")
	for _, method := range trees.MapKeys() {
		walk(trees.MapIndex(method).Elem(), "", func(path string) {
			calls = append(calls, method.String()+" "+path)
		})
	}
	slices.Sort(calls)
	return calls
}

func walk(node reflect.Value, before string, found func(path string)) {
	path := before + node.FieldByName("path").String()
	if !node.FieldByName("handle").IsNil() {
		found(withoutNames(path))
	}
	children := node.FieldByName("children")
	for i := range children.Len() {
		walk(children.Index(i).Elem(), path, found)
	}
}

// withoutNames writes `{}` for a parameter, which has a colon or an asterisk.
func withoutNames(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if segment != "" && strings.ContainsAny(segment[:1], ":*") {
			segments[i] = "{}"
		}
	}
	return strings.ReplaceAll(strings.Join(segments, "/"), "//", "/") // the slash of a catch-all is duplicated
}

// Compare fails a test unless the schema has the members of a struct, and requires those
// that are always present.
func (s Schema) Compare(t testing.TB, name string, of reflect.Type) {
	t.Helper()
	all, always := membersOf(of)
	if got := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(got, all) {
		t.Errorf("the schema %s has\n%q, the type has\n%q", name, got, all)
	}
	if got := slices.Sorted(slices.Values(s.Required)); !slices.Equal(got, always) {
		t.Errorf("the schema %s requires\n%q, the type always has\n%q", name, got, always)
	}
}

// membersOf returns the names that a struct has as JSON, and those of them that are
// always present, each in order.
func membersOf(of reflect.Type) (all, always []string) {
	for field := range of.Fields() {
		if field.Anonymous {
			inner, needed := membersOf(field.Type)
			all, always = append(all, inner...), append(always, needed...)
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		all = append(all, name)
		if options == "" {
			always = append(always, name)
		}
	}
	slices.Sort(all)
	slices.Sort(always)
	return all, always
}
