package elasticserver

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"riskdex/internal/testkit/logtest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// smallSource is a zip file like the server's, with one program in it, and no compiler.
func smallSource(t *testing.T) sources {
	t.Helper()
	var content bytes.Buffer
	w := zip.NewWriter(&content)
	program := &zip.FileHeader{Name: "elasticsearch-" + DefaultVersion + "/bin/elasticsearch"}
	program.SetMode(0o700)
	if _, err := w.CreateHeader(program); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Create("elasticsearch-" + DefaultVersion + "/lib/"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "server.zip")
	if err := errors.Join(w.Close(), os.WriteFile(file, content.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return sources{
		server:   anyServer(t),
		fetch:    func(context.Context, progress) (string, error) { return file, nil },
		compiler: func(context.Context, progress) (string, error) { return "", nil },
	}
}

func TestServerIsPreparedOnceAndReadableByOthers(t *testing.T) {
	base, java, from := t.TempDir(), t.TempDir(), smallSource(t)
	script(t, filepath.Join(java, "bin"), "java", `mkdir -p "$7" && : > "$7/Some.class"`)
	// Leftovers of an aborted process must not get into the server.
	if err := os.MkdirAll(filepath.Join(base, "unfinished", "junk"), 0o700); err != nil {
		t.Fatal(err)
	}
	defer syscall.Umask(syscall.Umask(0o077))

	const processes = 3 // each opens the lock file itself, as a process would
	var log logtest.Buffer
	var wg sync.WaitGroup
	dirs := make([]string, processes)
	for i := range processes {
		wg.Go(func() {
			dir, err := prepareIn(t.Context(), base, java, from, progress{&log})
			if err != nil {
				t.Error(err)
			}
			dirs[i] = dir
		})
	}
	wg.Wait()
	if n := log.Count("unpacking"); n != 1 {
		t.Errorf("unpacked %d times:\n%s", n, log.String())
	}
	if dirs[0] != dirs[1] || dirs[1] != dirs[2] {
		t.Errorf("different folders: %q", dirs)
	}
	for name, want := range map[string]os.FileMode{
		"":                  os.ModeDir | 0o755,
		"bin/elasticsearch": 0o755,
		"lib":               os.ModeDir | 0o755,
		"plugins/riskdex-analysis/riskdex-analysis.jar":         0o644,
		"plugins/riskdex-analysis/plugin-descriptor.properties": 0o644,
	} {
		info, err := os.Stat(filepath.Join(dirs[0], name))
		if err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("%q has mode %v, want %v", name, info.Mode(), want)
		}
	}
	if _, err := os.Stat(filepath.Join(dirs[0], "junk")); err == nil {
		t.Error("the junk of an aborted attempt is in the server")
	}
}

func TestFailedPreparationIsTriedAgain(t *testing.T) {
	base, java, from := t.TempDir(), t.TempDir(), smallSource(t)
	bin := filepath.Join(java, "bin")
	script(t, bin, "java", "echo a mistake in the plugin; exit 1")
	if _, err := prepareIn(t.Context(), base, java, from, progress{}); err == nil || !strings.Contains(err.Error(), "a mistake in the plugin") {
		t.Errorf("got %v", err)
	}
	script(t, bin, "java", `mkdir -p "$7"`)
	if _, err := prepareIn(t.Context(), base, java, from, progress{}); err != nil {
		t.Error(err)
	}
}

func TestLockWaitsNoLongerThanItsContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), file, progress{})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, file, progress{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestUnpackStaysInItsFolder(t *testing.T) {
	for _, name := range []string{"top/../../out", "top//etc/out"} {
		file := filepath.Join(t.TempDir(), "a.zip")
		var content bytes.Buffer
		w := zip.NewWriter(&content)
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Close(), os.WriteFile(file, content.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := unpack(file, filepath.Join(t.TempDir(), "in")); err == nil {
			t.Errorf("%q was unpacked", name)
		}
	}
}

func TestDamagedZipIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(file, []byte("half of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkSum(file, anyServer(t).sum); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("got %v", err)
	}
}
