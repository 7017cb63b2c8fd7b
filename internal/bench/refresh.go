package main

import (
	"context"
	"fmt"
	"slices"
)

// refresh measures what freshness costs: for several shares of the time that refreshes may take,
// how soon a document is found, and the CPU of Elasticsearch for it. Searches take CPU as well, so
// the two are measured one after the other.
func (b *bench) refresh(ctx context.Context) error {
	w, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	for _, share := range []string{unrefreshed, "0.05", "0.1", "0.2", "0.3", "0.5"} {
		r, err := b.beginWithShare(ctx, "fresh", share)
		if err != nil {
			return err
		}
		found, err := b.freshnessOf(ctx, r, w, b.scale(400, 80), 0)
		if err != nil {
			return err
		}
		if err := r.end(ctx); err != nil {
			return err
		}
		name := "--refresh-share " + share + ": "
		b.note(
			told(name+"freshness, median", ms(found.at(0.5)), "ms"),
			told(name+"freshness, 99th percentile", ms(found.at(0.99)), "ms"),
		)
		for _, perSecond := range []int{20, 200} {
			one, err := b.paced(ctx, w, pace{perSecond, share})
			if err != nil {
				return err
			}
			b.note(told(fmt.Sprintf("%s%d a second, CPU of Elasticsearch", name, perSecond), one.elasticsearch, "ms/document"))
		}
	}
	return nil
}

// beginWithShare is begin with a value of --refresh-share; empty for the default.
func (b *bench) beginWithShare(ctx context.Context, name, share string) (*riskdex, error) {
	usual := b.extra
	defer func() { b.extra = usual }()
	if share != "" {
		b.extra = append(slices.Clone(usual), "--refresh-share="+share)
	}
	return b.begin(ctx, name)
}
