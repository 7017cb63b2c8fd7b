package sqlite

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/transfer"
)

const openEnv = "RISKDEX_TEST_OPEN"

// openElsewhere opens a journal in another process, and returns the error of that
// process, or "".
func openElsewhere(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestOpenChild$")
	cmd.Env = append(os.Environ(), openEnv+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	return strings.TrimSpace(said)
}

// TestOpenChild is the other process.
func TestOpenChild(t *testing.T) {
	path := os.Getenv(openEnv)
	if path == "" {
		t.Skip("it is run by other tests")
	}
	j, err := Open(t.Context(), path, journal.Options{MinFree: -1})
	if err == nil {
		err = j.Close()
	}
	said := ""
	if err != nil {
		said = strings.ReplaceAll(err.Error(), "\n", " ")
	}
	_, _ = os.Stdout.WriteString(said + "\n")
}

// TestOtherNames: another process opens a journal under another name of its file, at any
// time of the life of the first.
func TestOtherNames(t *testing.T) {
	link := func(t *testing.T, path string) string {
		other := filepath.Join(t.TempDir(), "other.db")
		require.NoError(t, os.Link(path, other))
		return other
	}
	mount := func(t *testing.T, path string) string {
		other := filepath.Join(t.TempDir(), "other.db")
		require.NoError(t, os.WriteFile(other, nil, 0o600))
		if err := syscall.Mount(path, other, "", syscall.MS_BIND, ""); errors.Is(err, syscall.EPERM) {
			t.Skip("mounting is not allowed here")
		} else {
			require.NoError(t, err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(other, syscall.MNT_DETACH) })
		return other
	}
	for name, alias := range map[string]func(*testing.T, string) string{"a hard link": link, "a bind mount": mount} {
		t.Run(name, func(t *testing.T) {
			j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
			j.testWriteEvery = time.Millisecond
			start(t, j)
			mustAppend(t, j, journaltest.Put("1", "{}"))
			refused := func(when string) {
				t.Helper()
				if said := openElsewhere(t, alias(t, j.path)); !strings.Contains(said, "hard link or a bind mount") {
					t.Errorf("%s: another process opened it: %q", when, said)
				}
			}
			refused("at first")
			if _, err := Backup(t.Context(), j.path, filepath.Join(t.TempDir(), "copy.db"), nil); err != nil {
				t.Errorf("a backup while it is in use: %v", err)
			}
			refused("after a backup")
			if _, err := transfer.Copy(t.Context(), Endpoint(alias(t, j.path)), Endpoint(filepath.Join(t.TempDir(), "copy.db")), nil); err == nil || !strings.Contains(err.Error(), "hard link") {
				t.Errorf("a copy while it is in use returned %v, want a refusal because of the hard link", err)
			}
			broken := errors.New("the disk is on fire")
			if err := j.queue.Do(t.Context(), &commit.Request{Task: task(func(*commit.Transaction) error { return broken })}); !errors.Is(err, broken) {
				t.Fatal(err)
			}
			waitReady(t, j)
			refused("after it was rewritten")
			mustAppend(t, j, journaltest.Put("2", "{}"))
			checkTables(t, j)

			other := alias(t, j.path)
			require.NoError(t, j.Close())
			if said := openElsewhere(t, other); said != "" {
				t.Errorf("another process could not open it after it was closed: %q", said)
			}
		})
	}
}
