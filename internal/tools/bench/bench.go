package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/mappings"
)

type runCommand struct {
	Short    bool     `help:"Less of everything, in two minutes: good for a look, not for the records."`
	JSON     bool     `name:"json" help:"One object a line in place of the table."`
	Only     []string `help:"Only these parts: burst, mapping, snapshot, freshness, churn, away, idle, rates, refresh, history, processes, growth." placeholder:"PART"`
	Write    string   `help:"Put the table into this page, in place of the one that it has." placeholder:"FILE"`
	Profiles string   `help:"Keep profiles of riskdex in this folder, a few of each part." placeholder:"DIR"`
	Riskdex  string   `help:"The program to measure; built from this folder if not given." placeholder:"FILE"`
	Serve    []string `help:"Further settings for riskdex serve." placeholder:"FLAG"`
}

// bench is one run of the benchmarks.
type bench struct {
	streams
	json         bool
	long         bool
	profiles     string // folder for profiles; empty for none
	dir          string // for journals and logs, on the disk that is measured
	binary, self string
	extra        []string
	es           server
	version      string // of Elasticsearch
	set          *mappings.Set
	prefixes     int
	results      []result
	closing      []func() error // what close does
}

// part is a measurement that can be run by itself.
type part struct {
	name    string
	measure func(*bench, context.Context)
	long    bool // it takes minutes even in the short form
}

func parts() []part {
	return []part{
		{"burst", (*bench).burst, false}, {"mapping", (*bench).mapping, false}, {"snapshot", (*bench).snapshot, false}, {"freshness", (*bench).freshness, false},
		{"churn", (*bench).churn, false}, {"away", (*bench).away, false}, {"idle", (*bench).idle, false},
		{"rates", (*bench).rates, true}, {"refresh", (*bench).refresh, true}, {"history", (*bench).kept, true},
		{"processes", (*bench).processes, true}, {"growth", (*bench).growth, true},
	}
}

// Run measures and prints.
func (c runCommand) Run(ctx context.Context, s streams) (err error) {
	b := &bench{streams: s, json: c.JSON, long: !c.Short, extra: c.Serve, profiles: c.Profiles}
	wanted, err := c.parts()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := failing(func() { b.open(ctx, c.Riskdex) }); err != nil {
		return err
	}
	began := time.Now()
	for _, p := range wanted {
		b.say("%s …", p.name)
		if err := failing(func() { p.measure(b, ctx) }); err != nil {
			return fmt.Errorf("measure %s: %w", p.name, err)
		}
	}
	b.say("measured in %s, load at the end %s", time.Since(began).Round(time.Second), load1())
	if !c.JSON {
		fmt.Fprintf(s.out, "\n%s\n\n%s", b.circumstances(), table(b.results))
	}
	if c.Write != "" {
		return writeInto(c.Write, b.circumstances(), b.results)
	}
	return nil
}

// parts returns the parts that were asked for. A short run has the long parts only if they
// were named.
func (c runCommand) parts() ([]part, error) {
	var wanted []part
	var known []string
	for _, p := range parts() {
		known = append(known, p.name)
		if slices.Contains(c.Only, p.name) || len(c.Only) == 0 && !(c.Short && p.long) {
			wanted = append(wanted, p)
		}
	}
	for _, name := range c.Only {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no part %q: choose among %s", name, strings.Join(known, ", "))
		}
	}
	return wanted, nil
}

// open builds and starts everything that a run needs.
func (b *bench) open(ctx context.Context, binary string) {
	b.self = must(os.Executable())
	b.set = must(mappings.Builtin())
	check(os.MkdirAll(".local", 0o777))
	b.dir = must(filepath.Abs(must(os.MkdirTemp(".local", "bench-"))))
	b.closing = append(b.closing, func() error { return os.RemoveAll(b.dir) })
	if b.binary = binary; binary == "" {
		b.binary = filepath.Join(b.dir, "riskdex")
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=auto", "-o", b.binary, "./cmd/riskdex")
		build.Stderr = b.err
		check(build.Run())
	}
	home, remove := must2(elasticserver.TempHome())
	b.closing = append(b.closing, remove)
	es := must(elasticserver.Start(ctx, elasticserver.Options{Home: home, Log: b.err, FastStart: !b.long}))
	b.closing = append(b.closing, es.Stop)
	b.es, b.version = server{es.URL()}, es.Version()
	b.warmUp(ctx)
}

// close ends what open began, in the other order.
func (b *bench) close() (err error) {
	for _, end := range slices.Backward(b.closing) {
		err = errors.Join(err, end())
	}
	return err
}

// failure is the error that ends a measurement. Whatever fails ends it, so it is caught in one place.
type failure struct{ error }

// check ends the measurement if something failed. It is not for goroutines of their own.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[A any](a A, err error) A {
	check(err)
	return a
}

func must2[A, B any](a A, b B, err error) (A, B) {
	check(err)
	return a, b
}

// failing returns the error that ended measure.
func failing(measure func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	measure()
	return nil
}

// scale returns the number for the form of this run.
func (b *bench) scale(long, short int) int {
	if b.long {
		return long
	}
	return short
}

// prefix returns a new prefix for index names.
func (b *bench) prefix(name string) string {
	b.prefixes++
	return fmt.Sprintf("%s%d-", name, b.prefixes)
}

// note records results, and prints them at once.
func (b *bench) note(results ...result) {
	for _, r := range results {
		b.results = append(b.results, r)
		if b.json {
			_ = writeJSON(b.out, r)
		} else {
			b.say("  %s", strings.TrimRight(strings.Join(r.cells(), "  "), " "))
		}
	}
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.err, format+"\n", args...) }

// expect fails unless a search of an index can find n documents.
func (b *bench) expect(ctx context.Context, index string, n int) {
	if has := must(b.es.count(ctx, index)); has != n {
		check(fmt.Errorf("the index %s has %d documents, where %d were sent", index, has, n))
	}
}

// circumstances returns when, on what machine and with what software a run was made.
func (b *bench) circumstances() string {
	version, _ := exec.Command(b.binary, "version").Output()
	first, _, _ := strings.Cut(string(version), "\n")
	form := "long form"
	if !b.long {
		form = "short form, for which its JVM compiles less thoroughly"
	}
	return fmt.Sprintf("%s, %s, Elasticsearch %s with a heap of %s; %s; %s.", time.Now().UTC().Format("2006-01-02"),
		strings.TrimSpace(first), b.version, elasticserver.DefaultHeap, machine(), form)
}
