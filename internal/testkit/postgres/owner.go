package postgres

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// fastShutdown is the signal that makes the server close its connections and end.
const fastShutdown = syscall.SIGINT

// owner is the user that the server runs as. PostgreSQL refuses to run as root.
type owner struct{ credential *syscall.Credential }

// ownerOf gives a folder to the server's user, if this process is root.
func ownerOf(folder string) (*owner, error) {
	if os.Getuid() != 0 {
		return &owner{}, nil
	}
	const nobody = 65534
	uid, gid := nobody, nobody
	if u, err := user.Lookup("postgres"); err == nil {
		uid, _ = strconv.Atoi(u.Uid)
		gid, _ = strconv.Atoi(u.Gid)
	}
	if err := os.Chown(folder, uid, gid); err != nil {
		return nil, fmt.Errorf("give PostgreSQL its folder: %w", err)
	}
	return &owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func (o *owner) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: o.credential}
}
