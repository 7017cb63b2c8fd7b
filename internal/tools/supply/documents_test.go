package supply

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
)

// documents returns the text of every Markdown file, by its path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := filesNamed(t, ".md")
	if len(all) < 10 {
		t.Fatalf("there are only %d documents", len(all))
	}
	return all
}

// filesNamed returns the files whose names end in suffix, by path from the root.
func filesNamed(t *testing.T, suffix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 { // .git, .local
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, suffix) && !d.IsDir() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			all[name] = string(text)
			return err
		}
		return nil
	}))
	return all
}

var (
	fenced     = regexp.MustCompile("(?s)```.*?```")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	mdLink     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notAnchor  = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	namedTest  = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)")
	namedFile  = regexp.MustCompile("`((?:[a-z][\\w-]*/)+[\\w.-]+\\.(?:go|json|ya?ml|tsv|md|txt|cfg))`")
)

// TestLinksOfDocumentsLead checks that each link to another file, or to a section, leads to
// one that is there.
func TestLinksOfDocumentsLead(t *testing.T) {
	all := documents(t)
	anchors := map[string]map[string]bool{}
	for path, text := range all {
		anchors[path] = map[string]bool{}
		for _, m := range mdHeading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			anchors[path][strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
		}
	}
	for path, text := range all {
		text = inlineCode.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, section, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s has a link to %s, which is not there", path, m[1])
			} else if section != "" && !anchors[to][section] {
				t.Errorf("%s has a link to %s, and %s has no such section", path, m[1], to)
			}
		}
	}
}

// TestDocumentsNameWhatIsThere checks the tests and files of the repository that documents
// name.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	var code strings.Builder
	for _, text := range filesNamed(t, ".go") {
		code.WriteString(text)
	}
	tests := code.String()
	named := 0
	for path, text := range documents(t) {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			named++
			if !strings.Contains(tests, "func "+m[1]) {
				t.Errorf("%s names %s, which is no test", path, m[1])
			}
		}
		for _, m := range namedFile.FindAllStringSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(root, m[1]))
			if _, beside := os.Stat(filepath.Join(root, filepath.Dir(path), m[1])); err != nil && beside != nil {
				t.Errorf("%s names %s, which is not there", path, m[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("the documents name only %d tests", named)
	}
}
