package elasticserver

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// standInRoot holds the folders that replace those that the server's account cannot
// reach. It is not [os.TempDir], which may itself be a folder of one user.
const standInRoot = "/var/tmp/riskdex-elasticsearch"

// moduleRoot is the outermost folder with go.mod at or above the working directory: that of the
// repository, from its second module too.
func moduleRoot() (root string, err error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the root of the module: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		switch _, err := os.Stat(filepath.Join(dir, "go.mod")); {
		case err == nil:
			root = dir
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("find the root of the module: %w", err)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if root == "" {
		return "", fmt.Errorf("no go.mod in %s or above: run this inside the repository", start)
	}
	return root, nil
}

// place makes sure that dir exists and returns it. If the account cannot reach dir, it
// does so with the folder standIn below [standInRoot].
func (a *account) place(dir, standIn string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for Elasticsearch: %w", err)
	}
	if a.reaches(dir) {
		return dir, nil
	}
	if err := ownFolder(standInRoot); err != nil {
		return "", err
	}
	other := filepath.Join(standInRoot, standIn)
	if err := ownFolder(other); err != nil {
		return "", err
	}
	if !a.reaches(other) {
		return "", fmt.Errorf("account %s, who runs Elasticsearch because root may not, can enter neither %s nor %s: let it enter one of them, or run as an ordinary user", a.name, dir, other)
	}
	return other, nil
}

// ownFolder makes a folder that everybody may read and only we may change. An existing
// one is used only if it is like that, because others can write to /var/tmp too.
func ownFolder(dir string) error {
	if err := os.Mkdir(dir, 0o755); err == nil {
		if err := os.Chmod(dir, 0o755); err != nil { // whatever the umask was
			return fmt.Errorf("make a folder for Elasticsearch: %w", err)
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make a folder for Elasticsearch: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("make a folder for Elasticsearch: %w", err)
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !known || !info.IsDir() || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not a folder that only we can write to: remove it", dir)
	}
	return nil
}

// nameOf returns a short name for a path that no other path has.
func nameOf(path string) string {
	return fmt.Sprintf("%.6x", sha256.Sum256([]byte(path)))
}

// TempHome makes an empty home folder that the server's account can reach. remove deletes
// it with its content; call it once the server has stopped.
func TempHome() (dir string, remove func() error, err error) {
	a, err := serverAccount()
	if err != nil {
		return "", nil, err
	}
	parent, err := a.place(os.TempDir(), "tmp")
	if err != nil {
		return "", nil, err
	}
	dir, err = os.MkdirTemp(parent, "elasticsearch-")
	if err != nil {
		return "", nil, fmt.Errorf("make a temporary home for Elasticsearch: %w", err)
	}
	remove = func() error {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove the temporary home of Elasticsearch: %w", err)
		}
		return nil
	}
	if err := a.give(dir); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}
