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

	"riskdex/internal/elasticserver"
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
}

// part is a measurement that can be run by itself.
type part struct {
	name    string
	measure func(*bench, context.Context) error
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
	stop, err := b.open(ctx, c.Riskdex)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	began := time.Now()
	for _, p := range wanted {
		b.say("%s …", p.name)
		if err := p.measure(b, ctx); err != nil {
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

// open builds and starts everything that a run needs. stop ends it.
func (b *bench) open(ctx context.Context, binary string) (stop func() error, err error) {
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.set, err = mappings.Builtin(); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(".local", 0o777); err == nil {
		b.dir, err = os.MkdirTemp(".local", "bench-")
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for journals: %w", err)
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return nil, err
	}
	if b.binary = binary; binary == "" {
		b.binary = filepath.Join(b.dir, "riskdex")
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=auto", "-o", b.binary, "./cmd/riskdex")
		build.Stderr = b.err
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("build riskdex: %w", err)
		}
	}
	home, remove, err := elasticserver.TempHome()
	if err != nil {
		return nil, err
	}
	es, err := elasticserver.Start(ctx, elasticserver.Options{Home: home, Log: b.err, FastStart: !b.long})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	b.es, b.version = server{es.URL()}, es.Version()
	stop = func() error { return errors.Join(es.Stop(), remove(), os.RemoveAll(b.dir)) }
	if err := b.warmUp(ctx); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
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
func (b *bench) expect(ctx context.Context, index string, n int) error {
	has, err := b.es.count(ctx, index)
	if err == nil && has != n {
		err = fmt.Errorf("the index %s has %d documents, where %d were sent", index, has, n)
	}
	return err
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
