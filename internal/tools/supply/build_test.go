package supply

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
)

// built is the output of riskdex version --json.
type built struct {
	Version, Commit, Time string
	Modified              bool
	Go, Platform          string
}

func version(t *testing.T, program string) (b built) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(command(t, ".", program, "version", "--json")), &b))
	return b
}

func digest(t *testing.T, file string) [sha256.Size]byte {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return sha256.Sum256(content)
}

// Anybody with the source can check whether a program was made from it. At full length,
// the second build reuses nothing that was compiled for the first one.
func TestTheSameCommitMakesTheSameProgram(t *testing.T) {
	var first, second string
	for _, program := range []*string{&first, &second} {
		dir := copied(t)
		commit := committed(t, dir)
		if program == &second && os.Getenv("RISKDEX_TORTURE") != "" {
			t.Setenv("GOCACHE", t.TempDir())
		}
		command(t, dir, "make", "build")
		*program = filepath.Join(dir, ".local", "riskdex")
		want := built{Commit: commit, Time: commitTime, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
		got := version(t, *program)
		if !strings.Contains(got.Version, commit[:12]) {
			t.Errorf("the version is %s, which does not name the commit %s", got.Version, commit)
		}
		if want.Version = got.Version; got != want {
			t.Errorf("it says that it was built from %+v, want %+v", got, want)
		}
	}
	if digest(t, first) != digest(t, second) {
		t.Error("two folders make two programs")
	}
	static(t, first)
}

// A program that was built with an uncommitted file says so.
func TestAModifiedSourceIsSaid(t *testing.T) {
	dir := copied(t)
	committed(t, dir)
	main, err := os.OpenFile(filepath.Join(dir, "cmd/riskdex/main.go"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = main.WriteString("\n// changed\n")
	require.NoError(t, err)
	require.NoError(t, main.Close())
	command(t, dir, "make", "build")
	program := filepath.Join(dir, ".local", "riskdex")
	if got := version(t, program); !got.Modified {
		t.Errorf("the program does not say that its source was modified: %+v", got)
	}
	if text := command(t, ".", program, "version"); !strings.Contains(text, "changes that are in no commit") {
		t.Errorf("a modified source is not told of: %s", text)
	}
}

// An image is built as the Dockerfile says, without the repository; make image passes the
// commit.
func TestTheImageKnowsItsCommit(t *testing.T) {
	line := regexp.MustCompile(`CGO_ENABLED=0 go build .*`).FindString(readFile(t, "Dockerfile"))
	if line == "" {
		t.Fatal("the Dockerfile builds nothing")
	}
	repository := copied(t)
	commit := committed(t, repository)
	said := command(t, repository, "make", "--dry-run", "image")
	stamp := regexp.MustCompile(`--build-arg STAMP='([^']*)'`).FindStringSubmatch(said)
	if stamp == nil {
		t.Fatalf("make image sets no stamp: %s", said)
	}
	var programs []string
	for range 2 {
		dir := copied(t) // has no repository
		program := filepath.Join(t.TempDir(), "riskdex")
		command(t, dir, "sh", "-ec", "STAMP='"+stamp[1]+"'; "+strings.ReplaceAll(line, "/out/riskdex", program))
		programs = append(programs, program)
	}
	got := version(t, programs[0])
	if got.Commit != commit || got.Time != commitTime || got.Modified || !strings.HasPrefix(commit, got.Version) {
		t.Errorf("it says that it was built from %+v, want %s of %s", got, commit, commitTime)
	}
	if digest(t, programs[0]) != digest(t, programs[1]) {
		t.Error("two folders make two programs")
	}
	static(t, programs[0])
}

// static fails for a program that needs a libc, which an image from scratch lacks.
func static(t *testing.T, program string) {
	t.Helper()
	if needs := command(t, ".", "go", "version", "-m", program); !strings.Contains(needs, "CGO_ENABLED=0") {
		t.Errorf("it was built with C: %s", needs)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}
