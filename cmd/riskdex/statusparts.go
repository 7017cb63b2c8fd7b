package main

import (
	"context"
	"crypto/tls"
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

// newSearcher returns a searcher that searches like an app. The words do not matter: it has to be
// answered, whatever it finds.
func newSearcher(set *mappings.Set, indices *indices.Indices, every time.Duration, reg prometheus.Registerer, log *slog.Logger) (*probe.Searcher, error) {
	body, err := set.SearchBody("protest london", mappings.SearchOptions{Size: 1})
	if err != nil {
		return nil, err
	}
	return probe.NewSearcher(func(ctx context.Context) error {
		_, err := indices.Search(ctx, body)
		return err
	}, every, reg, log), nil
}

// searchFailsIn returns what tells the admin listener whether searches of apps fail.
func searchFailsIn(s *probe.Searcher) func() (since time.Time, err error) {
	if s == nil {
		return nil
	}
	return func() (time.Time, error) {
		if fails := s.Fails(); fails != nil {
			return fails.Since, fails.Err
		}
		return time.Time{}, nil
	}
}

// certificateIn returns what tells status and metrics of the certificate that a listener shows, nil
// without TLS. It should have been replaced a week before it expires, or a tenth of its life if
// that is less: by then, what renews certificates has failed.
func certificateIn(secured *tls.Config) func() admin.Certificate {
	if secured == nil {
		return nil
	}
	const week = 7 * 24 * time.Hour
	return func() admin.Certificate {
		pair, _ := secured.GetCertificate(nil) // errors have been logged
		c := pair.Leaf
		return admin.Certificate{Expires: c.NotAfter, ReplaceBy: c.NotAfter.Add(-min(week, c.NotAfter.Sub(c.NotBefore)/10))}
	}
}

// probeIn returns what tells the admin listener the state of the probe.
func probeIn(p *probe.Prober, indices *indices.Indices) func() admin.Probe {
	if p == nil {
		return nil
	}
	return func() admin.Probe {
		return admin.Probe{Index: indices.Alias(report.Probe), Unsearchable: p.Unsearchable(), Clock: int(p.Clock())}
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
