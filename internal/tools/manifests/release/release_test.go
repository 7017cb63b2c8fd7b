package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
)

func TestMain(m *testing.M) {
	if runInside() {
		return
	}
	os.Exit(elastictest.Main(m))
}

// tried returns the platforms that are built. Others than that of CI take over a minute each,
// since nothing else is compiled for them.
func tried() []platform {
	if torture.Wanted() {
		return platforms
	}
	return platforms[:1]
}

// repository returns a repository of its own with the files of this one as they are, whose
// only commit is a version.
func repository(t *testing.T, version string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "riskdex")
	files := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list, err := output(files, "../../../..")
	require.NoError(t, err)
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join("../../../..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed and not committed
		}
		require.NoError(t, err)
		to := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, content, 0o644))
	}
	git(t, dir, "init", "-q")
	commit(t, dir, version)
	return dir
}

// commit commits everything as a version.
func commit(t *testing.T, dir, version string) {
	t.Helper()
	changelog := filepath.Join(dir, "CHANGELOG.md")
	text, err := os.ReadFile(changelog)
	require.NoError(t, err)
	write(t, changelog, strings.Replace(string(text), "\n## [", "\n## ["+version[1:]+"]\n\n## [", 1))
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", version)
	git(t, dir, "tag", "-am", version, version)
}

// TestRelease builds the same version in two folders, whose bytes are the same, and installs
// it.
func TestRelease(t *testing.T) {
	needs.FullRun(t, "builds for several platforms")
	first := repository(t, "v0.1.0")
	second := filepath.Join(t.TempDir(), "elsewhere", "clone")
	git(t, ".", "clone", "-q", first, second)
	one, two := filepath.Join(first, ".local/release"), filepath.Join(second, ".local/release")
	files, err := release(t.Context(), first, "v0.1.0", one, tried())
	require.NoError(t, err)
	_, err = release(t.Context(), second, "v0.1.0", two, tried())
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(one, "SHA256SUMS"))
	require.NoError(t, err)
	if again, err := os.ReadFile(filepath.Join(two, "SHA256SUMS")); err != nil || !bytes.Equal(sums, again) {
		t.Errorf("two builds differ: %v\n%s\n%s", err, sums, again)
	}
	if _, err := output(exec.CommandContext(t.Context(), "sha256sum", "-c", "SHA256SUMS"), one); err != nil {
		t.Error(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	want := []string{"SHA256SUMS", "riskdex-0.1.0-1.x86_64.rpm", "riskdex_0.1.0_amd64.deb"}
	if torture.Wanted() {
		want = append(want, "riskdex-0.1.0-1.aarch64.rpm", "riskdex_0.1.0_arm64.deb")
	}
	for _, p := range tried() {
		want = append(want, "riskdex_0.1.0_"+p.String()+".tar.gz", "riskdex_0.1.0_"+p.String()+".cdx.json")
	}
	slices.Sort(names)
	if slices.Sort(want); !slices.Equal(names, want) {
		t.Errorf("the files are %q, want %q", names, want)
	}
	t.Run("archive", func(t *testing.T) { checkArchive(t, filepath.Join(one, "riskdex_0.1.0_linux_amd64.tar.gz")) })
	commit(t, second, "v0.2.0")
	newer := filepath.Join(second, ".local/newer")
	_, err = release(t.Context(), second, "v0.2.0", newer, platforms[:1])
	require.NoError(t, err)
	t.Run("install", func(t *testing.T) {
		install(t, filepath.Join(one, "riskdex_0.1.0_amd64.deb"), filepath.Join(newer, "riskdex_0.2.0_amd64.deb"), filepath.Join(one, "riskdex-0.1.0-1.x86_64.rpm"))
	})
}

// checkArchive: the program is static, and everything has come along.
func checkArchive(t *testing.T, path string) {
	content := unpacked(t, path)
	const top = "riskdex_0.1.0_linux_amd64/"
	for _, name := range []string{"riskdex", "NOTICES", "README.md", "CHANGELOG.md", "docs/operations.md", "dashboards/riskdex.json", "mappings/search.json", "admin/openapi.yaml", "examples/README.md", "man/riskdex.1", "man/riskdex-serve.1", "completion/riskdex.zsh"} {
		if len(content[top+name]) == 0 {
			t.Errorf("%s is missing among %q", name, slices.Sorted(maps.Keys(content)))
		}
	}
	program, err := elf.NewFile(bytes.NewReader(content[top+"riskdex"]))
	require.NoError(t, err)
	if libraries, err := program.ImportedLibraries(); len(libraries) > 0 || program.Section(".interp") != nil {
		t.Errorf("the program is not static: it needs %q, %v", libraries, err)
	}
	if page := string(content[top+"man/riskdex-serve.1"]); !strings.HasPrefix(page, `.TH RISKDEX\-SERVE 1 "2026-01-02" "riskdex v0.1.0"`) {
		t.Errorf("the manual begins with %.100s", page)
	}
	rules := string(content[top+"dashboards/rules.yml"])
	if alerts := strings.Count(rules, "- alert:"); alerts == 0 || strings.Count(rules, "runbook_url: http://127.0.0.1:8081/runbook#") != alerts {
		t.Errorf("the links of the rules do not lead to the runbook of the service:\n%.2000s", rules)
	}
	for _, licence := range []string{"==== Go go1.", "==== modernc.org/sqlite v", "==== github.com/jackc/pgx/v5 v"} {
		if !bytes.Contains(content[top+"NOTICES"], []byte(licence)) {
			t.Errorf("NOTICES lacks %q", licence)
		}
	}
}

func unpacked(t *testing.T, path string) map[string][]byte {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	content := map[string][]byte{}
	for archived := tar.NewReader(zipped); ; {
		header, err := archived.Next()
		if errors.Is(err, io.EOF) {
			return content
		}
		require.NoError(t, err)
		content[header.Name], err = io.ReadAll(archived)
		require.NoError(t, err)
	}
}
