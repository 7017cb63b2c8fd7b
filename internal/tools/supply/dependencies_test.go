package supply

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
)

// The folders that have a go.mod: that of the program, and that of what only tests and
// development need.
var modules = []string{".", "internal/tools/manifests"}

// docs/dependencies.md has every module that a go.mod names, in the table where it
// belongs, and no other.
func TestEveryDependencyIsAccountedFor(t *testing.T) {
	linked := strings.Fields(command(t, root, "go", "list", "-deps", "-f", "{{if .Module}}{{.Module.Path}}{{end}}", "./cmd/riskdex"))
	want := map[bool][]string{}
	for _, folder := range modules {
		for _, m := range required(t, folder) {
			in := slices.Contains(linked, m.Path)
			if !m.Indirect && m.Path != "riskdex" && !slices.Contains(want[in], m.Path) {
				want[in] = append(want[in], m.Path)
			}
		}
	}
	program, tests, ok := strings.Cut(readFile(t, "docs/dependencies.md"), "\n## Only for tests and development\n")
	if !ok || len(want[true]) < 5 {
		t.Fatal("docs/dependencies.md or go.mod cannot be read")
	}
	for in, text := range map[bool]string{true: program, false: tests} {
		var got []string
		// No column is empty.
		for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|( [^|]*[^| ] \\|){3}$").FindAllStringSubmatch(text, -1) {
			got = append(got, row[1])
		}
		slices.Sort(got)
		slices.Sort(want[in])
		if !slices.Equal(got, want[in]) {
			t.Errorf("in the program: %v. docs/dependencies.md has\n%q, go.mod\n%q", in, got, want[in])
		}
	}
}

type requirement struct {
	Path     string
	Indirect bool
}

// required returns the modules that a go.mod names.
func required(t *testing.T, folder string) []requirement {
	t.Helper()
	var module struct{ Require []requirement }
	require.NoError(t, json.Unmarshal([]byte(command(t, filepath.Join(root, folder), "go", "mod", "edit", "-json")), &module))
	return module.Require
}

// Building riskdex does not require the modules with which only the manifests are tested:
// the Makefile knows every module, and the program's stays small.
func TestModules(t *testing.T) {
	var found []string
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if path != "." && strings.HasPrefix(entry.Name(), ".") && entry.IsDir() {
			return fs.SkipDir
		}
		if entry.Name() == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
		return err
	}))
	if !slices.Equal(found, modules) {
		t.Errorf("there are go.mod files in %q, this test knows %q", found, modules)
	}
	if line := "\nMODULES := " + strings.Join(modules, " ") + "\n"; !strings.Contains(readFile(t, "Makefile"), line) {
		t.Errorf("the Makefile does not say %q", line)
	}
	const most = 100
	if all := strings.Fields(command(t, root, "go", "list", "-m", "all")); len(all)/2 > most {
		t.Errorf("go.mod leads to %d modules, more than %d: what only tests need goes to %q", len(all)/2, most, modules[1:])
	}
}
