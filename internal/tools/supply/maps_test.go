package supply

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	lineOfMap = regexp.MustCompile(`(?m)^//\t.*\b[a-z_]+\.go\b`)
	fileOfMap = regexp.MustCompile(`\b[a-z][a-z0-9_]*\.go\b`)
	platform  = regexp.MustCompile(`_(linux|unix|other)\.go$`)
)

// TestMapsOfPackagesAreComplete checks that the comment of a package that says what is in
// which file names all of them, and no other.
func TestMapsOfPackagesAreComplete(t *testing.T) {
	files := filesNamed(t, ".go")
	maps := 0
	for doc, text := range files {
		if filepath.Base(doc) != "doc.go" || !lineOfMap.MatchString(text) {
			continue
		}
		maps++
		named, there := map[string]bool{}, map[string]bool{}
		for _, name := range fileOfMap.FindAllString(text, -1) {
			named[name] = true
		}
		delete(named, "doc.go")
		for path := range files {
			name := filepath.Base(path)
			if filepath.Dir(path) != filepath.Dir(doc) || name == "doc.go" || strings.HasSuffix(name, "_test.go") {
				continue
			}
			base := platform.ReplaceAllString(name, ".go")
			if !named[name] && !named[base] {
				t.Errorf("%s does not say what is in %s", doc, name)
			}
			there[name], there[base] = true, true
		}
		for name := range named {
			if !there[name] {
				t.Errorf("%s names %s, which is not there", doc, name)
			}
		}
	}
	if maps == 0 {
		t.Error("no package has a map")
	}
}

// TestArchitectureNamesEveryPackage checks that ARCHITECTURE.md says what each package of the
// program does; internal has what only several packages, tests and development share.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	page := documents(t)["ARCHITECTURE.md"]
	for path := range filesNamed(t, ".go") {
		folder := filepath.Dir(path)
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(folder, "internal/") || folder == "dashboards/generate" {
			continue
		}
		if !strings.Contains(page, "`"+folder+"`") {
			t.Errorf("ARCHITECTURE.md does not say what %s does", folder)
		}
	}
}
