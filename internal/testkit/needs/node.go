package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"riskdex/internal/testkit/require"
)

// NodeModules returns a folder with the packages of package-lock.json in a folder of the tests, which
// npm fetches into .local once.
func NodeModules(t testing.TB, of string) string {
	t.Helper()
	npm := Program(t, "npm", "apt-get install -y --no-install-recommends npm")
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	for ; root != "/"; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
	}
	home := filepath.Join(root, ".local", filepath.Base(of))
	modules := filepath.Join(home, "node_modules")
	const lock = "package-lock.json"
	want, err := os.ReadFile(filepath.Join(of, lock))
	require.NoError(t, err)
	have, _ := os.ReadFile(filepath.Join(home, lock))
	if _, err := os.Stat(modules); err == nil && string(have) == string(want) {
		return modules
	}
	require.NoError(t, os.RemoveAll(home))
	require.NoError(t, os.CopyFS(home, os.DirFS(of)))
	fetch := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	fetch.Dir = home
	if out, err := fetch.CombinedOutput(); err != nil {
		_ = os.Remove(filepath.Join(home, lock)) // so that the next test tries again
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return modules
}
