package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/freeport"
	"riskdex/internal/testkit/metricstest"
	"riskdex/report"
)

// nowhere is the URL of an Elasticsearch that is down: nobody listens on port 1, which is
// reserved.
const nowhere = "http://127.0.0.1:1"

// riskdex is a riskdex in a process of its own, with its journal and indices.
type riskdex struct {
	bench   *bench
	process *child.Child
	prefix  string
	flags   []string
	journal string
	dir     string // has its log, and its journal if that is a file
	log     *os.File

	deliveries, admin string // addresses
}

// prepare returns a riskdex that is not started yet.
func (b *bench) prepare(name string, flags ...string) *riskdex {
	dir := must(os.MkdirTemp(b.dir, name+"-"))
	return &riskdex{
		bench: b, prefix: b.prefix(name), flags: flags, dir: dir, journal: filepath.Join(dir, "riskdex.db"),
		log:        must(os.Create(filepath.Join(dir, "riskdex.log"))),
		deliveries: must(freeport.Address()), admin: must(freeport.Address()),
	}
}

// begin starts a riskdex with the default settings and these flags, and returns when it has its
// indices and Elasticsearch is idle.
func (b *bench) begin(ctx context.Context, name string, flags ...string) *riskdex {
	r := b.prepare(name, flags...)
	r.start(ctx, b.es.url)
	r.indexed(ctx)
	return r
}

// start starts it, and returns when it can accept deliveries.
func (r *riskdex) start(ctx context.Context, elasticsearch string) {
	r.launch(elasticsearch)
	check(until(ctx, 5*time.Millisecond, func() (bool, error) {
		if err := r.process.Death(); err != nil {
			text, _ := os.ReadFile(r.log.Name())
			return false, fmt.Errorf("riskdex ended by itself: %w; its log ends: %s", err, text[max(0, len(text)-2000):])
		}
		res, err := http.Get("http://" + r.admin + "/readyz")
		if err != nil {
			return false, nil // it does not listen yet
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK, nil
	}))
}

// launch starts it without waiting.
func (r *riskdex) launch(elasticsearch string) {
	cmd := exec.Command(r.bench.binary, "serve", "--listen", r.deliveries, "--admin-listen", r.admin,
		"--journal", r.journal, "--elasticsearch-url", elasticsearch, "--index-prefix", r.prefix)
	cmd.Args = append(append(cmd.Args, r.bench.extra...), r.flags...)
	cmd.Env = clean(os.Environ())
	cmd.Stdout, cmd.Stderr = r.log, r.log
	r.process = must(child.Start(cmd))
}

// clean returns environ without settings of riskdex.
func clean(environ []string) []string {
	var kept []string
	for _, e := range environ {
		if !strings.HasPrefix(e, "RISKDEX_") && !strings.HasPrefix(e, "ELASTICSEARCH_") && !strings.HasPrefix(e, "OTEL_") {
			kept = append(kept, e)
		}
	}
	return kept
}

// index returns the alias of its advisories.
func (r *riskdex) index() string { return r.prefix + string(report.Advisories) }

// indexed waits until its indices exist and Elasticsearch is idle.
func (r *riskdex) indexed(ctx context.Context) {
	check(until(ctx, 20*time.Millisecond, func() (bool, error) {
		for _, kind := range report.Kinds() {
			if _, err := r.bench.es.count(ctx, r.prefix+string(kind)); err != nil {
				return false, ctx.Err()
			}
		}
		return true, nil
	}))
	r.bench.es.settle(ctx)
}

// stop stops it as an operator does.
func (r *riskdex) stop() { check(r.process.Stop(20 * time.Second)) }

// end stops it and removes all its data.
func (r *riskdex) end(ctx context.Context) {
	r.stop()
	check(errors.Join(r.log.Close(), os.RemoveAll(r.dir)))
	r.bench.es.forget(ctx, r.prefix)
}

// metrics returns its metrics.
func (r *riskdex) metrics(ctx context.Context) metricstest.Samples {
	text := must(request(ctx, http.MethodGet, "http://"+r.admin+"/metrics", nil))
	return must(metricstest.Read(bytes.NewReader(text)))
}

// increase returns a function that returns by how much a metric of advisories has grown.
func increase(before, after metricstest.Samples) func(name string) float64 {
	return func(name string) float64 {
		was, _ := before.Sum(name, `kind="advisories"`)
		is, _ := after.Sum(name, `kind="advisories"`)
		return is - was
	}
}

// spends returns the CPU time that it takes for something.
func (r *riskdex) spends(use func()) time.Duration { return spends(r.process.PID(), use) }

// settled waits until no change of content is pending, and no document is to be sent again.
func (r *riskdex) settled(ctx context.Context) {
	check(until(ctx, 50*time.Millisecond, func() (bool, error) {
		m := r.metrics(ctx)
		waiting := 0.0
		for _, kind := range report.Kinds() {
			for _, metric := range []string{"riskdex_changes_pending", "riskdex_documents_resending"} {
				n, _ := m.Sum(metric, fmt.Sprintf("kind=%q", kind))
				waiting += n
			}
		}
		return waiting == 0, nil
	}))
}

// post delivers many advisories in one request.
func post(ctx context.Context, address string, body []byte) error {
	_, err := request(ctx, http.MethodPost, "http://"+address+"/advisories", body)
	return err
}
