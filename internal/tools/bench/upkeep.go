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
func (b *bench) upkeep(ctx context.Context, r *riskdex, documents int, w, delivered *workload, fresh latencies) {
	command := func(name string) time.Duration {
		defer b.profile(ctx, r, fmt.Sprintf("%s-%d", name, documents))()
		return r.command(ctx, name)
	}
	before := must(residentMiB(r.process.PID()))
	verified := command("verify")
	after := must(residentMiB(r.process.PID()))
	took, _ := b.limit(ctx, w, min(documents, rebuildLimit))
	rebuilt := command("rebuild")
	name := fmt.Sprintf("%d documents: ", documents)
	b.noteGrowth(documents,
		told(name+"verify", perSecond(documents, verified), "documents/s").atLeast(50_000),
		told(name+"verify, resident memory (beside before)", after, "MiB").beside(before),
		told(name+"rebuild", perSecond(documents, rebuilt), "documents/s").
			beside(perSecond(min(documents, rebuildLimit), took)).ratioAtLeast(0.9),
	)
	if rebuilt < time.Duration(len(fresh))*freshnessEvery {
		return // another would end before enough was delivered beside it
	}
	r.command(ctx, "rebuild", "--detach")
	beside := b.freshnessOf(ctx, r, delivered, len(fresh), documents+len(fresh))
	b.noteGrowth(documents,
		told(name+"freshness beside a rebuild: median", beside.median(), "ms").beside(fresh.median()).ratioAtMost(1.5),
		told(name+"freshness beside a rebuild: 99th percentile", beside.p99(), "ms").beside(fresh.p99()),
	)
	r.command(ctx, "rebuild", "--stop")
	r.settled(ctx) // what it had marked is still sent, to the old index
}

// command runs a command for its advisories, and returns how long it took.
func (r *riskdex) command(ctx context.Context, name string, more ...string) time.Duration {
	began := time.Now()
	cmd := exec.CommandContext(ctx, r.bench.binary, append([]string{name, string(report.Advisories), "--admin", "http://" + r.admin}, more...)...)
	cmd.Env = clean(cmd.Environ())
	if text, err := cmd.CombinedOutput(); err != nil {
		check(fmt.Errorf("riskdex %s: %w: %.1000s", name, err, text))
	}
	return time.Since(began)
}
