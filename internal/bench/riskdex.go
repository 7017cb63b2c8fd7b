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

// nowhere is the URL of an Elasticsearch that is down: nobody listens on port 1, which is
// reserved.
const nowhere = "http://127.0.0.1:1"

// riskdex is a riskdex in a process of its own, with its journal and indices.
type riskdex struct {
	bench   *bench
	process *child.Child
	prefix  string
	journal string
	dir     string // has its log, and its journal if that is a file
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

// begin starts a riskdex with the default settings, and returns when it has its indices.
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

// start starts it, and returns when it can accept deliveries.
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

// launch starts it without waiting.
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

func (r *riskdex) died(err error) error {
	text, _ := os.ReadFile(r.log.Name())
	return fmt.Errorf("riskdex ended by itself: %w; its log ends: %s", err, text[max(0, len(text)-2000):])
}

// index returns the alias of its advisories.
func (r *riskdex) index() string { return r.prefix + string(report.Advisories) }

// indexed waits until its indices exist.
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

// kill ends it as a power cut would, and stop as an operator does.
func (r *riskdex) kill()       { r.process.Kill() }
func (r *riskdex) stop() error { return r.process.Stop(20 * time.Second) }

// end stops it and removes all its data.
func (r *riskdex) end(ctx context.Context) error {
	return errors.Join(r.stop(), r.log.Close(), os.RemoveAll(r.dir), r.bench.es.forget(ctx, r.prefix))
}

// metrics returns its metrics.
func (r *riskdex) metrics(ctx context.Context) (metricstest.Samples, error) {
	text, err := request(ctx, http.MethodGet, "http://"+r.admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	return metricstest.Read(bytes.NewReader(text))
}

// increase returns a function that returns by how much a metric of advisories has grown.
func increase(before, after metricstest.Samples) func(name string) float64 {
	return func(name string) float64 {
		was, _ := before.Sum(name, `kind="advisories"`)
		is, _ := after.Sum(name, `kind="advisories"`)
		return is - was
	}
}

// processor returns the CPU time that it has taken since it was started.
func (r *riskdex) processor() (time.Duration, error) { return processorOf(r.process.PID()) }

// residentMiB returns how much memory it has resident, and mostResidentMiB how much it had at
// most.
func (r *riskdex) residentMiB() (float64, error)     { return residentMiB(r.process.PID()) }
func (r *riskdex) mostResidentMiB() (float64, error) { return mostResidentMiB(r.process.PID()) }

// settled waits until no change of content is pending, and no document is to be sent again.
func (r *riskdex) settled(ctx context.Context) error {
	return until(ctx, 50*time.Millisecond, func() (bool, error) {
		m, err := r.metrics(ctx)
		if err != nil {
			return false, err
		}
		waiting := 0.0
		for _, kind := range report.Kinds() {
			for _, metric := range []string{"riskdex_changes_pending", "riskdex_documents_resending"} {
				n, _ := m.Sum(metric, fmt.Sprintf("kind=%q", kind))
				waiting += n
			}
		}
		return waiting == 0, nil
	})
}

// written waits until n documents have been written to its index of advisories.
func (r *riskdex) written(ctx context.Context, n int) error {
	return r.bench.es.awaitWritten(ctx, r.index(), n)
}

// post delivers many advisories in one request.
func post(ctx context.Context, address string, body []byte) error {
	_, err := request(ctx, http.MethodPost, "http://"+address+"/advisories", body)
	return err
}
