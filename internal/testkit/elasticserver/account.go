package elasticserver

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that the server runs as. nil means our own.
type account struct {
	name     string
	uid, gid int
}

// serverAccount returns nil if we are an ordinary user. Elasticsearch refuses to run as
// root, so for root it returns the account nobody.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	const name = "nobody"
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("find an account for Elasticsearch, which refuses to run as root: %w", err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, fmt.Errorf("read the user id of %s: %w", name, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, fmt.Errorf("read the group id of %s: %w", name, err)
	}
	return &account{name: name, uid: uid, gid: gid}, nil
}

// attributes makes a command run as the account.
func (a *account) attributes() *syscall.SysProcAttr {
	if a == nil {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}}
}

// reaches reports whether the account may enter dir. It tries, so that every kind of
// permission counts.
func (a *account) reaches(dir string) bool {
	if a == nil {
		return true
	}
	cmd := exec.Command("/bin/sh", "-c", `cd -- "$1"`, "sh", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = a.attributes()
	return cmd.Run() == nil
}

// give makes the account own dir and everything in it.
func (a *account) give(dir string) error {
	if a == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, a.uid, a.gid)
	})
	if err != nil {
		return fmt.Errorf("give %s to %s, who runs Elasticsearch: %w", dir, a.name, err)
	}
	return nil
}
