package main

import (
	"context"
	"time"

	"riskdex/admin"
	"riskdex/elastic"
	"riskdex/indexer"
	"riskdex/indexer/probe"
	"riskdex/indexer/verify"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/receiver"
	"riskdex/report"
)

// noteIn returns a function that lets the admin listener remember what the receiver answered.
func noteIn(last *admin.Deliveries) func(receiver.Answered) {
	return func(a receiver.Answered) {
		last.Note(admin.Delivery{
			At: a.At.UTC(), Kind: a.Kind, ID: a.ID, Path: a.Path, Method: a.Method, Status: a.Status,
			Reason: a.Reason, Accepted: a.Accepted, Refused: a.Refused,
		})
	}
}

// waitingIn returns what tells the admin listener which indices are waiting.
func waitingIn(x *indexer.Indexer) func() []admin.Waiting {
	return func() []admin.Waiting {
		var list []admin.Waiting
		for _, w := range x.Waiting() {
			list = append(list, admin.Waiting{
				Kind: w.Kind, Index: w.Index, Held: w.Paused, Reason: w.Reason,
				ErrorType: w.ErrorType, Detail: w.Detail, Since: w.Since.UTC(),
			})
		}
		return list
	}
}

// searchOfApps returns a search like that of an app. The words do not matter: it has to be
// answered, whatever it finds.
func searchOfApps(set *mappings.Set, indices *indices.Indices) (probe.Search, error) {
	body, err := set.SearchBody("protest london", mappings.SearchOptions{Size: 1})
	return func(ctx context.Context) error {
		_, err := indices.Search(ctx, body)
		return err
	}, err
}

// searchFailsIn returns what tells the admin listener whether searches of apps fail.
func searchFailsIn(p *probe.Prober) func() (since time.Time, err error) {
	if p == nil {
		return nil
	}
	return func() (time.Time, error) {
		if fails := p.SearchFails(); fails != nil {
			return fails.Since, fails.Err
		}
		return time.Time{}, nil
	}
}

// probeIn returns what tells the admin listener the state of the probe.
func probeIn(p *probe.Prober, indices *indices.Indices) func() admin.Probe {
	if p == nil {
		return nil
	}
	return func() admin.Probe {
		return admin.Probe{Index: indices.Alias(report.Probe), Unsearchable: p.Unsearchable()}
	}
}

// lackingIn returns what tells the admin listener of which kinds the journal does not know most
// of what the index has.
func lackingIn(c *verify.Coverage) func() []admin.Lacking {
	return func() (all []admin.Lacking) {
		for _, l := range c.Lacking() {
			all = append(all, admin.Lacking{Kind: l.Kind, Known: l.Known, Indexed: l.Indexed})
		}
		return all
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

// Search implements admin.Index.
func (x index) Search(ctx context.Context, words string) (admin.Found, error) {
	body, err := x.set.SearchBody(words, mappings.SearchOptions{})
	if err != nil {
		return admin.Found{}, err
	}
	result, err := x.indices.Search(ctx, body)
	found := admin.Found{Total: result.Total, More: result.More}
	for _, h := range result.Hits {
		found.Hits = append(found.Hits, admin.Hit{
			Kind: h.Kind, ID: h.ID, Title: h.Title, Code: h.Code, Countries: h.Countries,
			RiskLevel: h.RiskLevel, Excerpts: excerpts(h),
		})
	}
	return found, err
}
