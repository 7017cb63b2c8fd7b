package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reported returns what a report shows for events, each of the form ACTION PACKAGE[/TEST]
// [OUTPUT]. A test whose name ends in a number took so many seconds.
func reported(t *testing.T, events ...string) string {
	t.Helper()
	var in, out bytes.Buffer
	for _, event := range events {
		fields := strings.SplitN(event, " ", 3)
		e := testEvent{Action: fields[0]}
		e.Package, e.Test, _ = strings.Cut(fields[1], "/")
		e.Elapsed, _ = strconv.ParseFloat(strings.TrimPrefix(e.Test, "Test"), 64)
		if len(fields) == 3 {
			e.Output = fields[2] + "\n"
		}
		if err := json.NewEncoder(&in).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	in.WriteString("go: of go itself\n")
	r := testReport{out: &out}
	if err := r.read(&in, &testRun{}); err != nil {
		t.Fatal(err)
	}
	r.end()
	return out.String()
}

func TestReportShowsFailuresAndWhatWasNotRun(t *testing.T) {
	got := reported(t,
		"output a/TestGood === RUN   TestGood", "output a/TestGood     good.go:1: noise", "pass a/TestGood",
		"output b/TestElsewhere     of another package",
		"output a/TestBad === RUN   TestBad", "output a/TestBad     bad.go:7: wrong", "output a/TestBad --- FAIL: TestBad (0.00s)", "fail a/TestBad",
		"output a FAIL", "output a FAIL\ta\t0.1s", "fail a",
		"output b/TestElsewhere --- PASS: TestElsewhere (0.00s)", "pass b/TestElsewhere",
		"output b/TestSkipped     s.go:3: needs a server: not in a short run", "output b/TestSkipped --- SKIP: TestSkipped (0.00s)", "skip b/TestSkipped",
		"output b/TestSilent --- SKIP: TestSilent (0.00s)", "skip b/TestSilent",
		"output b PASS", "output b ok  \tb\t0.2s", "pass b",
		"output c ?   \tc\t[no test files]", "skip c",
		"build-output d d.go:1: does not compile")
	want := "    bad.go:7: wrong\n--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\ta\t0.1s\n" +
		"ok  \tb\t0.2s\n?   \tc\t[no test files]\nd.go:1: does not compile\ngo: of go itself\n" +
		"Not run:\n  needs a server: not in a short run\n      b: TestSkipped\n  no reason given\n      b: TestSilent\n" +
		"FAILED a: TestBad\n"
	if got != want {
		t.Errorf("the report shows\n%s\nwant\n%s", got, want)
	}
}

func TestReportOfACompleteRun(t *testing.T) {
	if got := reported(t, "output a ok  \ta\t0.1s", "pass a"); !strings.HasSuffix(got, "All tests were run.\n") {
		t.Error(got)
	}
}

func TestReportOfWhatTookLong(t *testing.T) {
	got := reported(t, "output a/Test9 x", "pass a/Test9", "pass a/Test12", "fail b/Test61", "pass b/Test61/one", "pass b")
	if want := "Slowest:\n    61 s  b: Test61\n    12 s  a: Test12\nAll tests"; !strings.Contains(got, want) {
		t.Error(got)
	}
}

// If the tests of a package crash, the output of the running tests is shown.
func TestReportOfAPanic(t *testing.T) {
	got := reported(t, "output a/TestDies === RUN   TestDies", "output a/TestDies panic: something", "output a FAIL\ta\t0.1s", "fail a")
	if !strings.Contains(got, "panic: something\nFAIL\ta") {
		t.Error(got)
	}
}

func TestSomeOfMany(t *testing.T) {
	if got := some([]string{"A", "B", "C", "D", "E"}); got != "5 tests" {
		t.Error(got)
	}
}

func TestRunsAreSeparated(t *testing.T) {
	got := slices.Collect(runs([]string{"-race", "./a", ";", ";", "-C", "b", "./...", ";"}))
	if len(got) != 2 || !slices.Equal(got[0], []string{"-race", "./a"}) || !slices.Equal(got[1], []string{"-C", "b", "./..."}) {
		t.Errorf("the runs are %q", got)
	}
}

func TestTestsThatFail(t *testing.T) {
	if status, out, _ := runHere("test", "--", "./no-such-package"); status == 0 {
		t.Errorf("exit status %d: %s", status, out)
	}
}
