package elasticserver

import (
	"os"
	"path/filepath"
	"testing"
)

func TestModuleRootIsFoundFromBelow(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(root+"/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir("/")
	if got, err := moduleRoot(); err == nil {
		t.Errorf("without go.mod: %s", got)
	}
	t.Chdir(root + "/a/b")
	if err := os.WriteFile(root+"/go.mod", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := moduleRoot(); err != nil || got != root {
		t.Errorf("got %q, %v; want %q", got, err, root)
	}
}

func TestHomeIsReachedFromAPrivateTemporaryFolder(t *testing.T) {
	private := t.TempDir()
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", private)
	a, err := serverAccount()
	if err != nil {
		t.Fatal(err)
	}
	dir := temporaryHome(t)
	if !a.reaches(dir) {
		t.Errorf("%+v cannot enter %s", a, dir)
	}
	if inside := filepath.Dir(dir) == private; inside != (a == nil) {
		t.Errorf("account %+v, home %s", a, dir)
	}
}

func TestStandInMustBeOurs(t *testing.T) {
	base := t.TempDir()
	if err := ownFolder(base + "/new"); err != nil {
		t.Error(err)
	}
	if err := ownFolder(base + "/new"); err != nil {
		t.Errorf("our own existing folder was refused: %v", err)
	}
	if err := os.Symlink(base+"/new", base+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := ownFolder(base + "/link"); err == nil {
		t.Error("ownFolder accepted a link that another may have put there")
	}
	if err := os.Chmod(base+"/new", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ownFolder(base + "/new"); err == nil {
		t.Error("ownFolder accepted a folder that everybody can write to")
	}
}
