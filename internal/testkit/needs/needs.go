// Package needs is how tests say what they need besides Go: a server, a program, time.
// A test that cannot have it is skipped with the reason, which make test lists at its
// end. With CI=true in the environment, and in a run of torture, a missing program is a
// failure.
package needs

import (
	"os"
	"os/exec"
	"testing"

	"riskdex/internal/testkit/torture"
)

// pythonVariable names the Python interpreter that has what the tests import.
const pythonVariable = "RISKDEX_TEST_PYTHON"

// FullRun skips the test in a short run (go test -short), which does without servers and
// everything else that takes long. what completes "needs".
func FullRun(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs " + what + ": not in a short run")
	}
}

// Program returns the path of a program. advice says how to get it.
func Program(t testing.TB, name, advice string) string {
	t.Helper()
	FullRun(t, name)
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name+" is missing: "+advice)
	}
	return path
}

// Python returns the interpreter that RISKDEX_TEST_PYTHON names. requirements is the file with
// the packages that it must have.
func Python(t testing.TB, requirements string) string {
	t.Helper()
	FullRun(t, "Python")
	python := os.Getenv(pythonVariable)
	if python == "" {
		missing(t, pythonVariable+" is not set: it names a Python that has "+requirements+" installed")
	}
	return python
}

func missing(t testing.TB, message string) {
	t.Helper()
	if os.Getenv("CI") == "true" || torture.Wanted() {
		t.Fatal(message)
	}
	t.Skip(message)
}
