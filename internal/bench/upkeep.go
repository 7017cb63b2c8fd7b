package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"riskdex/report"
)

// rebuildLimit is the most documents whose indexing is the limit of a rebuild. More would not be
// indexed at another speed, and they are made in memory.
const rebuildLimit = 100_000

// upkeep verifies the index and rebuilds it, as an operator does, with so many documents of a
// workload. During a second rebuild, which is given up, documents of another workload are
// delivered and searched, which usually are found after fresh.
func (b *bench) upkeep(ctx context.Context, r *riskdex, documents int, w, delivered *workload, fresh latencies) error {
	before, err := r.residentMiB()
	if err != nil {
		return err
	}
	profiled := b.profile(ctx, r, fmt.Sprintf("verify-%d", documents))
	verified, err := r.command(ctx, "verify")
	if err != nil {
		return err
	}
	profiled()
	after, err := r.residentMiB()
	if err != nil {
		return err
	}
	took, _, err := b.limit(ctx, w, min(documents, rebuildLimit))
	if err != nil {
		return err
	}
	profiled = b.profile(ctx, r, fmt.Sprintf("rebuild-%d", documents))
	rebuilt, err := r.command(ctx, "rebuild")
	if err != nil {
		return err
	}
	profiled()
	name := fmt.Sprintf("%d documents: ", documents)
	b.noteGrowth(documents,
		told(name+"verify", perSecond(documents, verified), "documents/s").atLeast(50_000),
		told(name+"verify, resident memory (beside before)", after, "MiB").beside(before),
		told(name+"rebuild", perSecond(documents, rebuilt), "documents/s").
			beside(perSecond(min(documents, rebuildLimit), took)).ratioAtLeast(0.9),
	)
	if rebuilt < time.Duration(len(fresh))*freshnessEvery {
		return nil // another would end before enough was delivered beside it
	}
	if _, err := r.command(ctx, "rebuild", "--detach"); err != nil {
		return err
	}
	beside, err := b.freshnessOf(ctx, r, delivered, len(fresh), documents+len(fresh))
	if err != nil {
		return err
	}
	b.noteGrowth(documents,
		told(name+"freshness beside a rebuild: median", ms(beside.at(0.5)), "ms").beside(ms(fresh.at(0.5))).ratioAtMost(1.5),
		told(name+"freshness beside a rebuild: 99th percentile", ms(beside.at(0.99)), "ms").beside(ms(fresh.at(0.99))),
	)
	if _, err = r.command(ctx, "rebuild", "--stop"); err != nil {
		return err
	}
	return r.settled(ctx) // what it had marked is still sent, to the old index
}

// command runs a command for its advisories, and returns how long it took.
func (r *riskdex) command(ctx context.Context, name string, more ...string) (time.Duration, error) {
	began := time.Now()
	cmd := exec.CommandContext(ctx, r.bench.binary, append([]string{name, string(report.Advisories), "--admin", "http://" + r.admin}, more...)...)
	cmd.Env = clean(cmd.Environ())
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("riskdex %s: %w: %.1000s", name, err, text)
	}
	return time.Since(began), nil
}
