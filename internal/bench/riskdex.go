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

	"riskdex/internal/child"
	"riskdex/internal/freeport"
	"riskdex/internal/metricstest"
	"riskdex/report"
)

// nowhere is an Elasticsearch that is away: port 1 is reserved, and nobody listens.
const nowhere = "http://127.0.0.1:1"

// riskdex is one that runs in a process of its own, with its journal and indices.
type riskdex struct {
	bench   *bench
	process *child.Child
	prefix  string
	journal string
	dir     string // of its log, and of its journal where that is a file
	log     *os.File

	deliveries, admin string // addresses
}

// prepare returns a riskdex that is not started yet.
func (b *bench) prepare(name string) (*riskdex, error) {
	r := &riskdex{bench: b, prefix: b.prefix(name)}
	var err error
	for _, address := range []*string{&r.deliveries, &r.admin} {
		if *address, err = freeport.Address(); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(b.dir, name+"-")
	if err != nil {
		return nil, err
	}
	r.dir, r.journal = dir, filepath.Join(dir, "riskdex.db")
	r.log, err = os.Create(filepath.Join(dir, "riskdex.log"))
	return r, err
}

// begin returns one that serves, with the settings that everybody has by default,
// and its index.
func (b *bench) begin(ctx context.Context, name string) (*riskdex, error) {
	r, err := b.prepare(name)
	if err != nil {
		return nil, err
	}
	if err := r.start(ctx, b.es.url); err != nil {
		return nil, err
	}
	return r, r.indexed(ctx)
}

// start starts it, and returns when it can accept.
func (r *riskdex) start(ctx context.Context, elasticsearch string) error {
	if err := r.launch(elasticsearch); err != nil {
		return err
	}
	return until(ctx, 5*time.Millisecond, func() (bool, error) {
		if err := r.process.Death(); err != nil {
			return false, r.died(err)
		}
		res, err := http.Get("http://" + r.admin + "/readyz")
		if err != nil {
			return false, nil // it does not listen yet
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK, nil
	})
}

// launch starts it, and waits for nothing.
func (r *riskdex) launch(elasticsearch string) error {
	cmd := exec.Command(r.bench.binary, "serve", "--listen", r.deliveries, "--admin-listen", r.admin,
		"--journal", r.journal, "--elasticsearch-url", elasticsearch, "--index-prefix", r.prefix)
	cmd.Args = append(cmd.Args, r.bench.extra...)
	cmd.Env = clean(os.Environ())
	cmd.Stdout, cmd.Stderr = r.log, r.log
	var err error
	r.process, err = child.Start(cmd)
	return err
}

// clean leaves out settings of riskdex that the environment may have.
func clean(environ []string) []string {
	var kept []string
	for _, e := range environ {
		if !strings.HasPrefix(e, "RISKDEX_") && !strings.HasPrefix(e, "ELASTICSEARCH_") && !strings.HasPrefix(e, "OTEL_") {
			kept = append(kept, e)
		}
	}
	return kept
}

func (r *riskdex) died(err error) error {
	text, _ := os.ReadFile(r.log.Name())
	return fmt.Errorf("riskdex ended by itself: %w; its log ends: %s", err, text[max(0, len(text)-2000):])
}

// index is where its advisories are searched.
func (r *riskdex) index() string { return r.prefix + string(report.Advisories) }

// indexed waits until its indices are there.
func (r *riskdex) indexed(ctx context.Context) error {
	return until(ctx, 20*time.Millisecond, func() (bool, error) {
		for _, kind := range report.Kinds() {
			if _, err := r.bench.es.count(ctx, r.prefix+string(kind)); err != nil {
				return false, ctx.Err()
			}
		}
		return true, nil
	})
}

// kill ends it as a power cut would, stop as an operator does.
func (r *riskdex) kill()       { r.process.Kill() }
func (r *riskdex) stop() error { return r.process.Stop(20 * time.Second) }

// end stops it and removes all that it has left.
func (r *riskdex) end(ctx context.Context) error {
	return errors.Join(r.stop(), r.log.Close(), os.RemoveAll(r.dir), r.bench.es.forget(ctx, r.prefix))
}

// metrics returns what it says of itself.
func (r *riskdex) metrics(ctx context.Context) (metricstest.Samples, error) {
	text, err := request(ctx, http.MethodGet, "http://"+r.admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	return metricstest.Read(bytes.NewReader(text))
}

// increase returns what tells by how much a metric of its advisories has grown.
func increase(before, after metricstest.Samples) func(name string) float64 {
	return func(name string) float64 {
		was, _ := before.Sum(name, `kind="advisories"`)
		is, _ := after.Sum(name, `kind="advisories"`)
		return is - was
	}
}

// processor returns the CPU time that it has taken since it was started.
func (r *riskdex) processor() (time.Duration, error) { return processorOf(r.process.PID()) }

// residentMiB returns how much memory it has resident.
func (r *riskdex) residentMiB() (float64, error) { return residentMiB(r.process.PID()) }

// settled waits until nothing of content waits any longer.
func (r *riskdex) settled(ctx context.Context) error {
	return until(ctx, 50*time.Millisecond, func() (bool, error) {
		m, err := r.metrics(ctx)
		if err != nil {
			return false, err
		}
		pending := 0.0
		for _, kind := range report.Kinds() {
			n, _ := m.Sum("riskdex_changes_pending", fmt.Sprintf("kind=%q", kind))
			pending += n
		}
		return pending == 0, nil
	})
}

// written waits until its index of advisories has taken n documents.
func (r *riskdex) written(ctx context.Context, n int) error {
	return r.bench.es.awaitWritten(ctx, r.index(), n)
}

// post makes one delivery of many advisories.
func post(ctx context.Context, address string, body []byte) error {
	_, err := request(ctx, http.MethodPost, "http://"+address+"/advisories", body)
	return err
}
