package main

import (
	"context"
	"fmt"
)

// refresh measures what freshness costs: for several shares of the time that refreshes may take,
// how soon a document is found, and the CPU of Elasticsearch for it. Searches take CPU as well, so
// the two are measured one after the other.
func (b *bench) refresh(ctx context.Context) {
	w := newWorkload(4 << 10)
	for _, share := range []string{unrefreshed, "0.05", "0.1", "0.2", "0.3", "0.5"} {
		r := b.begin(ctx, "fresh", "--refresh-share="+share)
		found := b.freshnessOf(ctx, r, w, b.scale(400, 80), 0)
		r.end(ctx)
		name := "--refresh-share " + share + ": "
		b.note(
			told(name+"freshness, median", found.median(), "ms"),
			told(name+"freshness, 99th percentile", found.p99(), "ms"),
		)
		for _, perSecond := range []int{20, 200} {
			b.note(told(fmt.Sprintf("%s%d a second, CPU of Elasticsearch", name, perSecond),
				b.paced(ctx, w, pace{perSecond, share}).elasticsearch, "ms/document"))
		}
	}
}
