package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// pace is how deliveries come in: so many a second.
type pace struct {
	perSecond int
	share     string // --refresh-share; empty for the default
}

// unrefreshed is the share with which an index refreshes only by its own interval of a second.
const unrefreshed = "0"

// paces returns what a turn measures, in its order; every second turn goes the other way.
func paces() []pace {
	return []pace{{20, ""}, {20, unrefreshed}, {200, ""}, {200, unrefreshed}, {1000, ""}, {4000, ""}}
}

const (
	paceTurns = 3
	// paceSpan is how long deliveries come in. It ends before Elasticsearch takes the index for
	// one that nobody searches (after 30 s), and stops refreshing it.
	paceSpan = 15 * time.Second
	// paceRest is how long the last refresh may take to come.
	paceRest = 1500 * time.Millisecond
)

// paced is one measurement of a pace.
type paced struct {
	p50, p99      float64 // ms, from when a delivery was due to its acknowledgement
	cpu           float64 // µs for a document
	elasticsearch float64 // its CPU for a document, in ms
	resident      float64 // MiB at most
}

// rates delivers documents of 4 KB at fixed rates while Elasticsearch indexes them, by turns. A
// delivery is sent when it is due, however long the answers to others take.
func (b *bench) rates(ctx context.Context) {
	w := newWorkload(4 << 10)
	order, all := paces(), map[pace][]paced{}
	var bursts []float64
	for range b.scale(paceTurns, 1) {
		for _, p := range order {
			one := b.paced(ctx, w, p)
			b.say("  %+v: %+v", p, one)
			all[p] = append(all[p], one)
		}
		slices.Reverse(order)
		bursts = append(bursts, b.burstOnce(ctx, w, b.scale(20_000, 3_000)).cpu*1e6/20_000)
	}
	at := func(perSecond int, of func(paced) float64) float64 { return medianOf(all[pace{perSecond, ""}], of) }
	cpu := func(o paced) float64 { return o.cpu }
	for _, r := range []struct {
		perSecond     int
		p50, p99, cpu float64 // targets; 0: none, and no row
	}{{20, 0, 0, 1000}, {200, 1.2, 4, 500}, {1000, 1.2, 8, 250}, {4000, 2, 15, 0}} {
		least, leastCPU := b.pacedRead(ctx, w, r.perSecond)
		if r.cpu != 0 {
			b.note(told(fmt.Sprintf("%d a second: CPU (beside a handler that does nothing)", r.perSecond), at(r.perSecond, cpu), "µs/document").beside(leastCPU).atMost(r.cpu))
		}
		if r.p50 == 0 {
			continue
		}
		name := fmt.Sprintf("%d a second, acknowledged: ", r.perSecond)
		b.note(
			told(name+"median (beside a handler that does nothing)", at(r.perSecond, func(o paced) float64 { return o.p50 }), "ms").
				beside(least.median()).atMost(r.p50),
			told(name+"99th percentile", at(r.perSecond, func(o paced) float64 { return o.p99 }), "ms").
				beside(least.p99()).atMost(r.p99),
		)
	}
	b.note(told("4000 a second: resident", at(4000, func(o paced) float64 { return o.resident }), "MiB").atMost(96))
	b.note(told("burst: CPU", median(bursts), "µs/document").atMost(110))
	for _, r := range []struct {
		perSecond int
		most      float64 // target of the ratio
	}{{20, 3}, {200, 1.5}} {
		of := func(o paced) float64 { return o.elasticsearch }
		b.note(told(fmt.Sprintf("%d a second: CPU of Elasticsearch (beside --refresh-share 0)", r.perSecond), at(r.perSecond, of), "ms/document").
			beside(medianOf(all[pace{r.perSecond, unrefreshed}], of)).ratioAtMost(r.most))
	}
}

// pacedLoad is the deliveries of a pace.
func (b *bench) pacedLoad(w *workload, address string, perSecond int) load {
	span := paceSpan
	if !b.long {
		span /= 5
	}
	every := time.Second / time.Duration(perSecond)
	l := loadOf(w, int(span/every), address)
	l.every = every
	return l
}

// paced measures a pace once.
func (b *bench) paced(ctx context.Context, w *workload, p pace) (o paced) {
	var flags []string
	profiled := func() {}
	if p.share != "" {
		flags = []string{"--refresh-share=" + p.share}
	}
	r := b.begin(ctx, "paced", flags...)
	if p.share == "" {
		profiled = b.profile(ctx, r, fmt.Sprintf("rate-%d", p.perSecond))
	}
	l := b.pacedLoad(w, r.deliveries, p.perSecond)
	o.elasticsearch = usEach(l.deliveries, b.es.spends(ctx, func() {
		o.cpu = usEach(l.deliveries, r.spends(func() {
			_, acks := must2(l.send(ctx))
			r.settled(ctx)
			o.p50, o.p99 = acks.median(), acks.p99()
		}))
		check(wait(ctx, paceRest))
	})) / 1000
	profiled()
	o.resident = must(mostResidentMiB(r.process.PID()))
	r.end(ctx)
	return o
}

// pacedRead measures a handler that reads deliveries, discards them and answers: what sender and
// machine take, and the handler's CPU for a delivery in µs.
func (b *bench) pacedRead(ctx context.Context, w *workload, perSecond int) (acks latencies, cpu float64) {
	address, pid, kill := b.startPeer(ctx, "none", "read", "")
	defer kill()
	l := b.pacedLoad(w, address, perSecond)
	spent := spends(pid, func() { _, acks = must2(l.send(ctx)) })
	return acks, usEach(l.deliveries, spent)
}
