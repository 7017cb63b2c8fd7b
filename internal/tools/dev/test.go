package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"riskdex/internal/testkit/child"

	"golang.org/x/sync/errgroup"
)

type testCommand struct {
	Again   bool     `help:"Run tests that fail once more, each alone. Those that pass then do not fail the run."`
	Command []string `arg:"" passthrough:"" help:"Flags and packages for go test, after --; with ; between runs that take place at the same time."`
}

// Help says how this differs from go test.
func (testCommand) Help() string {
	return `Shows what go test shows, and at the end which tests took longest, which were not run, and
why, and which failed. The exit status is that of a run that fails.

A test that passes alone and not beside others (--again) is listed, for someone to see to: it
depends on how busy the machine is. Nothing is run again after a crash, a data race, a signal or
a package that does not compile, or if more than a few tests failed.`
}

// Run runs the tests.
func (c testCommand) Run(ctx context.Context, s streams) error {
	args := c.Command
	if args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return errors.New("test: name flags and packages after --")
	}
	report := testReport{out: s.out}
	s.in = nil // as go test has it
	var all errgroup.Group
	var started []*testRun
	for args := range runs(args) {
		run := &testRun{args: args}
		started = append(started, run)
		all.Go(func() error {
			run.err = goTest(s, &report, run)
			return run.err
		})
	}
	err := all.Wait()
	if err != nil && c.Again && mayRunAgain(started) {
		err = report.runAgain(started, func(again *testRun) error { return goTest(s, &report, again) })
	}
	report.end()
	return err
}

// runs yields the arguments between the semicolons.
func runs(args []string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for len(args) > 0 {
			end := slices.Index(args, ";")
			if end < 0 {
				end = len(args)
			}
			if end > 0 && !yield(args[:end]) {
				return
			}
			args = args[min(end+1, len(args)):]
		}
	}
}

// testRun is one run of go test.
type testRun struct {
	args   []string // of go test; may begin with -C FOLDER
	failed []testName
	broken atomic.Bool // more is wrong than that tests failed
	err    error
}

// goTest runs go test.
func goTest(s streams, report *testReport, run *testRun) error {
	first, args := []string{"test", "-json"}, run.args
	if args[0] == "-C" && len(args) > 2 {
		first, args = []string{"-C", args[1], "test", "-json"}, args[2:]
	}
	cmd := exec.Command("go", append(first, args...)...)
	if slices.Contains(args, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // the race detector needs it
	}
	events, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer events.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, in, s.err
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	running, err := child.Start(cmd)
	in.Close()
	if err != nil {
		return err
	}
	go func() {
		for {
			select {
			case <-running.Done():
				return
			case sig := <-signals:
				run.broken.Store(true)
				_ = running.SignalGroup(sig.(syscall.Signal)) // it may have ended
			}
		}
	}()
	err = report.read(events, run)
	<-running.Done()
	return errors.Join(statusOf(running.Err()), err)
}

// testReport shows the events of go test -json as go test without -json would. Several
// runs may be read at the same time.
type testReport struct {
	out    io.Writer
	mu     sync.Mutex
	output map[testName][]string // of tests that have not passed
	order  []testName
	notRun map[string][]testName // by reason
	took   map[testName]float64  // seconds, without those of other tests that it waited for
	failed []testName
	alone  []testName // that passed when they were run again
}

type testName struct{ Package, Test string }

func (n testName) String() string { return strings.TrimPrefix(n.Package, "riskdex/") + ": " + n.Test }

type testEvent struct {
	Action, Output string
	Elapsed        float64
	testName
}

// read reads and shows the events of one run.
func (r *testReport) read(events io.Reader, run *testRun) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e testEvent
			if json.Unmarshal([]byte(line), &e) != nil {
				e = testEvent{Action: "build-output", Output: line} // of go itself
			}
			r.take(e, run)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the output of go test: %w", err)
		}
	}
}

func (r *testReport) take(e testEvent, run *testRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		if r.output == nil {
			r.output, r.notRun, r.took = map[testName][]string{}, map[string][]testName{}, map[testName]float64{}
		}
		if _, known := r.output[e.testName]; !known {
			r.order = append(r.order, e.testName)
		}
		r.output[e.testName] = append(r.output[e.testName], e.Output)
	case "skip":
		if e.Test != "" {
			reason := skipReason(r.output[e.testName])
			r.notRun[reason] = append(r.notRun[reason], e.testName)
		}
		fallthrough
	case "pass", "fail":
		if e.Test == "" {
			if e.Action == "fail" {
				run.packageFailed(e.Package, r.output)
			}
			r.show(e)
			return
		}
		if !strings.Contains(e.Test, "/") {
			r.took[e.testName] = e.Elapsed
		}
		if e.Action == "fail" {
			run.failed = append(run.failed, e.testName)
			r.failed = append(r.failed, e.testName)
		} else {
			delete(r.output, e.testName)
		}
	}
}

// show prints the rest of a package that has ended: its last line if it passed, and otherwise
// everything except the output of tests that passed.
func (r *testReport) show(e testEvent) {
	var left []testName
	for _, name := range r.order {
		if name.Package != e.Package {
			left = append(left, name)
			continue
		}
		lines := r.output[name]
		if e.Action != "fail" && len(lines) > 0 {
			lines = lines[len(lines)-1:]
		}
		for _, line := range lines {
			if !strings.HasPrefix(line, "=== ") {
				fmt.Fprint(r.out, line)
			}
		}
		delete(r.output, name)
	}
	r.order = left
}

// end lists what took long, what was not run, and what failed.
func (r *testReport) end() {
	r.listSlowest()
	r.listNotRun()
	for _, name := range r.alone {
		fmt.Fprintf(r.out, "FAILED BESIDE OTHERS, PASSED ALONE %s\n", name)
	}
	for _, name := range r.failed {
		fmt.Fprintf(r.out, "FAILED %s\n", name)
	}
}

// listSlowest names the tests to look at for whoever finds that all of them take too long.
func (r *testReport) listSlowest() {
	const most, long = 20, 10 // tests, seconds
	slowest := slices.DeleteFunc(slices.Collect(maps.Keys(r.took)), func(n testName) bool { return r.took[n] < long })
	slices.SortFunc(slowest, func(a, b testName) int {
		return cmp.Or(cmp.Compare(r.took[b], r.took[a]), cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test))
	})
	if len(slowest) > 0 {
		fmt.Fprintln(r.out, "Slowest:")
	}
	for _, name := range slowest[:min(most, len(slowest))] {
		fmt.Fprintf(r.out, "  %4.0f s  %s\n", r.took[name], name)
	}
}

func (r *testReport) listNotRun() {
	if len(r.notRun) == 0 {
		fmt.Fprintln(r.out, "All tests were run.")
		return
	}
	fmt.Fprintln(r.out, "Not run:")
	for _, reason := range slices.Sorted(maps.Keys(r.notRun)) {
		byPackage := map[string][]string{}
		for _, name := range r.notRun[reason] {
			byPackage[name.Package] = append(byPackage[name.Package], name.Test)
		}
		fmt.Fprintf(r.out, "  %s\n", reason)
		for _, in := range slices.Sorted(maps.Keys(byPackage)) {
			fmt.Fprintf(r.out, "      %s: %s\n", strings.TrimPrefix(in, "riskdex/"), some(byPackage[in]))
		}
	}
}

// some names a few tests and counts many.
func some(tests []string) string {
	const few = 3
	if len(tests) <= few {
		return strings.Join(tests, ", ")
	}
	return fmt.Sprint(len(tests), " tests")
}

// skipReason returns why a test was skipped: its last line, without the location in the
// source.
func skipReason(output []string) string {
	for _, line := range slices.Backward(output) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "--- SKIP") || strings.HasPrefix(text, "=== ") {
			continue
		}
		if _, reason, ok := strings.Cut(text, ".go:"); ok {
			if _, reason, ok = strings.Cut(reason, ": "); ok {
				return reason
			}
		}
		return text
	}
	return "no reason given"
}
