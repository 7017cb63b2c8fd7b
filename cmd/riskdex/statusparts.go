package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
	"riskdex/elastic"
	"riskdex/indexer/probe"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// newSearcher returns a searcher that searches like an app.
func newSearcher(x *indices.Indices, every time.Duration, reg prometheus.Registerer, log *slog.Logger) *probe.Searcher {
	return probe.NewSearcher(func(ctx context.Context) error {
		return x.TrySearches(ctx, x.Searched()...)
	}, every, reg, log)
}

// searchFailsIn returns what tells the admin listener whether searches of apps fail.
func searchFailsIn(s *probe.Searcher) func() *admin.SearchFailure {
	if s == nil {
		return nil
	}
	return func() *admin.SearchFailure {
		if fails := s.Fails(); fails != nil {
			return searchFailure(fails.Since, fails.Err)
		}
		return nil
	}
}

func searchFailure(since time.Time, err error) *admin.SearchFailure {
	_, reason, _ := elastic.ClassifyError(err)
	f := &admin.SearchFailure{Since: since.UTC(), Reason: reason, Detail: err.Error()}
	if answer, ok := errors.AsType[*elastic.ResponseError](err); ok {
		f.Index = answer.Index
	}
	return f
}

// certificateIn returns what tells status and metrics of the certificate that a listener shows, nil
// without TLS. It should have been replaced a week before it expires, or a tenth of its life if
// that is less: by then, what renews certificates has failed. Once a seventh of that is left, which is a
// day of a week, it is urgent.
func certificateIn(secured *tls.Config) func() admin.Certificate {
	if secured == nil {
		return nil
	}
	const week = 7 * 24 * time.Hour
	return func() admin.Certificate {
		pair, _ := secured.GetCertificate(nil) // errors have been logged
		c := pair.Leaf
		spare := min(week, c.NotAfter.Sub(c.NotBefore)/10)
		return admin.Certificate{Expires: c.NotAfter, ReplaceBy: c.NotAfter.Add(-spare), Urgent: c.NotAfter.Add(-spare / 7)}
	}
}

// probeIn returns what tells the admin listener the state of the probe.
func probeIn(p *probe.Prober, indices *indices.Indices) func() admin.Probe {
	if p == nil {
		return nil
	}
	return func() admin.Probe {
		now := admin.Probe{Index: indices.Alias(report.Probe), Unsearchable: p.Unsearchable(), Clock: int(p.Clock())}
		if fails := p.Fails(); fails != nil {
			now.Fails = searchFailure(fails.Since, fails.Err)
		}
		return now
	}
}

// index implements admin.Index: it searches as the search command does.
type index struct {
	client  *elastic.Client
	indices *indices.Indices
	set     *mappings.Set
}

// countBody is a search that returns the number of documents and none of them.
const countBody = `{"size": 0, "track_total_hits": true}`

// Documents implements admin.Index.
func (x index) Documents(ctx context.Context, kind report.Kind) (int, error) {
	found, err := indices.Search(ctx, x.client, []string{x.indices.Alias(kind)}, []byte(countBody))
	return found.Total, err
}

// refresh has searches find all that was written.
func (x index) refresh(ctx context.Context, kind report.Kind) error {
	return x.client.Refresh(ctx, x.indices.Alias(kind))
}
