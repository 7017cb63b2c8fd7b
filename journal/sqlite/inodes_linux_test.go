package sqlite

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"riskdex/internal/testkit/require"
	"riskdex/journal"
)

// TestOpenWithoutInodes opens a journal where so many files can be made and no more: whichever is
// the first that cannot, the error says why, and what to do.
func TestOpenWithoutInodes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a file system")
	}
	for files := 1; ; files++ {
		dir := t.TempDir()
		err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=512m,nr_inodes=%d", files)) // one is of the folder
		if err != nil {
			t.Skipf("mounting is not allowed here: %v", err)
		}
		j, err := Open(t.Context(), filepath.Join(dir, "j.db"), journal.Options{Log: slog.New(slog.DiscardHandler)})
		if err == nil {
			require.NoError(t, j.Close())
		}
		require.NoError(t, syscall.Unmount(dir, 0))
		if err == nil {
			if files < 5 {
				t.Errorf("it needs %d inodes, so this tests little", files)
			}
			return
		}
		if text := err.Error(); !strings.Contains(text, "no inodes left") || !strings.Contains(text, "df -i "+dir) {
			t.Errorf("with %d inodes: %v", files, err)
		}
		if files == 20 {
			t.Fatal("it cannot be opened")
		}
	}
}
