package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mostAgain is how many tests are run again: if more fail, it is not for want of time.
const mostAgain = 8

// packageFailed notes whether a package failed by more than tests that do not pass. output has
// that of all tests that have not passed.
func (run *testRun) packageFailed(name string, output map[testName][]string) {
	if !slices.ContainsFunc(run.failed, func(t testName) bool { return t.Package == name }) {
		run.broken.Store(true) // it does not compile, or its TestMain failed
	}
	for test, lines := range output {
		if test.Package == name && slices.ContainsFunc(lines, isOfACrash) {
			run.broken.Store(true)
		}
	}
}

// isOfACrash reports whether Go itself wrote a line of output, and not a test.
func isOfACrash(line string) bool {
	for _, start := range []string{"panic: ", "fatal error: ", "WARNING: DATA RACE", "signal: "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// mayRunAgain reports whether all that is wrong with runs is that a few tests failed.
func mayRunAgain(runs []*testRun) bool {
	all := 0
	for _, run := range runs {
		failed := len(run.topLevel())
		if run.broken.Load() || run.err != nil && failed == 0 {
			return false
		}
		all += failed
	}
	return all > 0 && all <= mostAgain
}

// topLevel returns the tests that failed, without their subtests.
func (run *testRun) topLevel() []testName {
	return slices.DeleteFunc(slices.Clone(run.failed), func(n testName) bool { return strings.Contains(n.Test, "/") })
}

// again returns the run of one test alone.
func (run *testRun) again(test testName) *testRun {
	isPackage := func(arg string) bool { return strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "riskdex") }
	flags := slices.DeleteFunc(slices.Clone(run.args), isPackage)
	return &testRun{args: append(flags, "-parallel", "1", "-count", "1", "-run", "^"+test.Test+"$", test.Package)}
}

// runAgain runs each test that failed once more. The error is that of one that fails again.
func (r *testReport) runAgain(runs []*testRun, goTest func(*testRun) error) error {
	var err error
	r.failed = nil
	for _, run := range runs {
		for _, test := range run.topLevel() {
			fmt.Fprintln(r.out, "Once more, alone:", test)
			if failed := goTest(run.again(test)); failed != nil {
				err = errors.Join(err, failed)
			} else {
				r.alone = append(r.alone, test)
			}
		}
	}
	return err
}
