package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"riskdex/internal/torture"
)

// disk is a file system of its own in a file, which can be cut off.
type disk struct {
	image, dir string
	options    string
}

// newDisk makes an ext4 of so many MiB in a file in folder and mounts it. Where
// the machine does not allow that, the test is skipped.
func newDisk(t *testing.T, folder string, mib int, options string) *disk {
	t.Helper()
	d := &disk{image: filepath.Join(folder, "disk.img"), dir: t.TempDir(), options: options}
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a file system")
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		if torture.Wanted() {
			t.Fatal("mkfs.ext4 is missing; install e2fsprogs")
		}
		t.Skip("mkfs.ext4 is missing; install e2fsprogs")
	}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, int64(mib)<<20); err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", d.image)
	allocate(t, d.image, 0, 0, int64(mib)<<20) // mkfs leaves holes
	d.mount(t)
	t.Cleanup(d.unmount)
	return d
}

// mount skips the test where mounting is not allowed.
func (d *disk) mount(t *testing.T) {
	t.Helper()
	options := "loop"
	if d.options != "" {
		options += "," + d.options
	}
	out, err := exec.Command("mount", "-t", "ext4", "-o", options, d.image, d.dir).CombinedOutput()
	if err != nil && (bytes.Contains(out, []byte("permission denied")) || bytes.Contains(out, []byte("loop device"))) {
		t.Skipf("mounting is not allowed here: %s", out)
	}
	if err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
}

// unmount also lets go of the loop device, which mount made for itself.
func (d *disk) unmount() {
	for range 100 {
		err := syscall.Unmount(d.dir, 0)
		if err == nil || errors.Is(err, syscall.EINVAL) { // not mounted
			return
		}
		time.Sleep(10 * time.Millisecond) // a dying process may hold it still
	}
	_ = syscall.Unmount(d.dir, syscall.MNT_DETACH)
}

// cut ends all writing to the disk at once, without what was not yet on it, as a
// power cut does.
func (d *disk) cut(t *testing.T) {
	t.Helper()
	const goingDown, withoutLog = 0x8004587d, 2 // FS_IOC_GOINGDOWN of ext4 and xfs
	dir, err := os.Open(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	how := uint32(withoutLog)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, dir.Fd(), goingDown, uintptr(unsafe.Pointer(&how)))
	switch errno {
	case 0:
	case syscall.EPERM, syscall.ENOTTY:
		t.Skipf("cutting a file system off is not allowed here: %v", errno)
	default:
		t.Fatalf("cut: %v", errno)
	}
}

// again mounts the disk anew: what is there now is what was on it.
func (d *disk) again(t *testing.T) {
	t.Helper()
	d.unmount()
	d.mount(t)
}

// tmpfs mounts a file system in memory of so many MiB.
func tmpfs(t *testing.T, mib int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a file system")
	}
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib))
	if errors.Is(err, syscall.EPERM) {
		t.Skip("mounting is not allowed here")
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{dir: dir}
	t.Cleanup(d.unmount)
	return dir
}

// fill writes a file until the disk that it lies on has no more than left bytes.
func fill(t *testing.T, path string, left int64) {
	t.Helper()
	free, err := freeBytes(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for ; free > left; free -= int64(len(block)) {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// allocate calls fallocate.
func allocate(t *testing.T, path string, mode uint32, offset, length int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Fallocate(int(f.Fd()), mode, offset, length); err != nil {
		t.Fatalf("fallocate %s: %v", path, err)
	}
}

// rot has everything that is free on the disk fail once what its image lies on is
// full: the image gets holes there. The tables of the file system stay whole.
func (d *disk) rot(t *testing.T) {
	t.Helper()
	const punchHole = 1 | 2 // FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
	path := filepath.Join(d.dir, "rot")
	mark := bytes.Repeat([]byte("rot "), 1024)
	f, err := os.Create(path)
	for err == nil {
		_, err = f.Write(mark)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	command(t, "sync", "-f", path)
	image, err := os.ReadFile(d.image)
	if err != nil {
		t.Fatal(err)
	}
	holes := 0
	for at := 0; at < len(image); at += len(mark) {
		if bytes.Equal(image[at:at+len(mark)], mark) {
			allocate(t, d.image, punchHole, int64(at), int64(len(mark)))
			holes++
		}
	}
	if holes < 1000 {
		t.Fatalf("only %d blocks of the disk were free", holes)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	command(t, "sync", "-f", d.dir)
}
