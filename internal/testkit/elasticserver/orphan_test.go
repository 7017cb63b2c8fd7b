package elasticserver_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/child/childtest"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
)

// TestPrivateCloneAndKilledParent: the clone is in a folder that only its owner may
// enter, as a build machine makes it, and the process is killed while its server runs.
func TestPrivateCloneAndKilledParent(t *testing.T) {
	needs.FullRun(t, "Elasticsearch")
	clone := t.TempDir()
	if err := os.Chmod(clone, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clone, "go.mod"), []byte("module clone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Dir = clone
	parent.Env = append(os.Environ(), parentRole+"="+filepath.Join(clone, "data"))
	parent.Stderr = t.Output()
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var url, home string
	_, err = fmt.Fscanln(out, &url, &home)
	if err != nil {
		t.Fatalf("the server did not start: %v, %v", err, parent.Wait())
	}
	if inside := strings.HasPrefix(home, clone); inside == (os.Geteuid() == 0) {
		t.Errorf("as user %d the home is %s", os.Geteuid(), home)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	res, err := http.Get(url + "/_cluster/health")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if len(childtest.Processes(t, home)) == 0 {
		t.Fatal("the server's processes are not found")
	}

	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	require.Eventually(t, 30*time.Second, "the server ends after its parent", func() bool { return len(childtest.Processes(t, home)) == 0 })
}
