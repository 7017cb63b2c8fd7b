package supply

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/dependencies.md accounts for every module that is named in go.mod, in the
// table where it belongs, and for no other.
func TestEveryDependencyIsAccountedFor(t *testing.T) {
	var module struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	must(t, json.Unmarshal([]byte(command(t, root, "go", "mod", "edit", "-json")), &module))
	linked := strings.Fields(command(t, root, "go", "list", "-deps", "-f", "{{if .Module}}{{.Module.Path}}{{end}}", "./cmd/riskdex"))
	want := map[bool][]string{}
	for _, m := range module.Require {
		if !m.Indirect {
			in := slices.Contains(linked, m.Path)
			want[in] = append(want[in], m.Path)
		}
	}
	program, tests, ok := strings.Cut(readFile(t, "docs/dependencies.md"), "\n## Only for tests and development\n")
	if !ok || len(want[true]) < 5 {
		t.Fatal("docs/dependencies.md or go.mod cannot be read")
	}
	for in, text := range map[bool]string{true: program, false: tests} {
		var got []string
		// Every column says something.
		for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|( [^|]*[^| ] \\|){4}$").FindAllStringSubmatch(text, -1) {
			got = append(got, row[1])
		}
		slices.Sort(got)
		slices.Sort(want[in])
		if !slices.Equal(got, want[in]) {
			t.Errorf("in the program: %v. docs/dependencies.md has\n%q, go.mod\n%q", in, got, want[in])
		}
	}
}
