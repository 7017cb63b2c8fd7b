// Package disktest gives tests disks of their own: small file systems in a file that can be
// filled, cut off, frozen, and made to fail. Tests that need one are skipped if the system
// does not allow it, and fail in CI if only a program is missing.
package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
)

// Disk is a file system of its own in a file, which can be cut off.
type Disk struct {
	Dir            string // where it is mounted
	image, options string
}

// New makes an ext4 of mib MiB in a file in folder and mounts it. If the machine does not
// allow that, the test is skipped.
func New(t *testing.T, folder string, mib int, options string) *Disk {
	t.Helper()
	d := &Disk{image: filepath.Join(folder, "disk.img"), Dir: t.TempDir(), options: options}
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a file system")
	}
	needs.Program(t, "mkfs.ext4", "apt-get install e2fsprogs")
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, int64(mib)<<20); err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", d.image)
	allocate(t, d.image, 0, 0, int64(mib)<<20) // mkfs leaves holes
	d.mount(t)
	t.Cleanup(d.Unmount)
	return d
}

// mount mounts the disk, or skips the test if mounting is not allowed.
func (d *Disk) mount(t *testing.T) {
	t.Helper()
	options := "loop"
	if d.options != "" {
		options += "," + d.options
	}
	out, err := exec.Command("mount", "-t", "ext4", "-o", options, d.image, d.Dir).CombinedOutput()
	if err != nil && (bytes.Contains(out, []byte("permission denied")) || bytes.Contains(out, []byte("loop device"))) {
		t.Skipf("mounting is not allowed here: %s", out)
	}
	if err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
}

// Unmount unmounts the disk. This also releases the loop device, which mount made.
func (d *Disk) Unmount() {
	for range 3000 {
		err := syscall.Unmount(d.Dir, 0)
		if err == nil || errors.Is(err, syscall.EINVAL) { // not mounted
			return
		}
		time.Sleep(10 * time.Millisecond) // a dying process may still use it, on a busy machine for seconds
	}
	_ = syscall.Unmount(d.Dir, syscall.MNT_DETACH)
}

// Cut stops all writing to the disk at once. What is not on it yet is lost, as in a power cut.
func (d *Disk) Cut(t *testing.T) {
	t.Helper()
	const goingDown, withoutLog = 0x8004587d, 2 // FS_IOC_GOINGDOWN of ext4 and xfs
	dir, err := os.Open(d.Dir)
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

// Again remounts the disk. It then has only what was written to it.
func (d *Disk) Again(t *testing.T) {
	t.Helper()
	d.Unmount()
	d.mount(t)
}

// Tmpfs mounts a file system of mib MiB in memory and returns its folder.
func Tmpfs(t *testing.T, mib int) string {
	t.Helper()
	needs.FullRun(t, "a file system of its own")
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
	d := &Disk{Dir: dir}
	t.Cleanup(d.Unmount)
	return dir
}

// Fill writes a file until its disk has at most left bytes free.
func Fill(t *testing.T, path string, left int64) {
	t.Helper()
	var disk syscall.Statfs_t
	require.NoError(t, syscall.Statfs(filepath.Dir(path), &disk))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for free := int64(disk.Bavail) * disk.Bsize; free > left; free -= int64(len(block)) { // #nosec G115 -- a small disk
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

// tell writes to a control file of the kernel.
func tell(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0))
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

// Rot makes writes to all free blocks of the disk fail once the disk that holds the image is
// full: it punches holes into the image there. The tables of the file system stay intact.
func (d *Disk) Rot(t *testing.T) {
	t.Helper()
	const punchHole = 1 | 2 // FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE

	tell(t, "/sys/fs/ext4/"+d.device(t)+"/reserved_clusters", "0") // clusters that no file gets
	path := filepath.Join(d.Dir, "rot")
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
	command(t, "sync", "-f", d.Dir)
	// If a write begins in an intact part of the image and continues in a hole, the loop device
	// reports success, although only the beginning was written. So have it write one block at a
	// time.
	tell(t, "/sys/block/"+d.device(t)+"/queue/max_sectors_kb", "4")
}

// device returns the name of the disk's loop device.
func (d *Disk) device(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); f[1] == d.Dir {
			return filepath.Base(f[0])
		}
	}
	t.Fatalf("%s is not mounted", d.Dir)
	return ""
}

// Freeze makes every write to the disk wait until thaw is called, or for a minute at most,
// since processes that wait for it cannot even be killed.
func (d *Disk) Freeze(t *testing.T) (thaw func()) {
	t.Helper()
	needs.Program(t, "fsfreeze", "apt-get install util-linux")
	// It thaws the disk when its standard input is closed, which also happens when this process
	// ends, in whatever way.
	watch := exec.Command("sh", "-c", `fsfreeze -f "$1" && echo frozen; timeout 60 cat >/dev/null; fsfreeze -u "$1"`, "sh", d.Dir)
	in, err := watch.StdinPipe()
	require.NoError(t, err)
	out, err := watch.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, watch.Start())
	thawed := false
	thaw = func() {
		if !thawed {
			thawed = true
			_ = in.Close()
			_, _ = io.Copy(io.Discard, out)
			_ = watch.Wait()
		}
	}
	t.Cleanup(thaw)
	word := make([]byte, len("frozen"))
	if _, err := io.ReadFull(out, word); err != nil {
		thaw()
		t.Skipf("a file system cannot be frozen here: %v", err)
	}
	return thaw
}
