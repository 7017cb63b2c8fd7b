package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"riskdex/admin"
	"riskdex/indexer/follow"
	"riskdex/indexer/probe"
	"riskdex/indexer/verify"
	"riskdex/internal/logsink"
	"riskdex/internal/reread"
	"riskdex/journal"
	"riskdex/report"
)

// listen opens the listener on which the other cluster has a status, metrics and dead letters
// of its own, under the names that those of the served cluster have. registry has the metrics of
// the indexer, lines are those of the log, and files takes those to reread.
func (f *filling) listen(ctx context.Context, registry *prometheus.Registry, lines *logsink.Sink, files *reread.Group) (*endpoint, error) {
	allow, err := f.allow(files, f.log)
	if err != nil {
		return nil, err
	}
	followed := followedJournal{f.journal}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		admin.NewJournalCollector(followed, nil, time.Now, f.log))
	registerBuild(registry, thisBuild())
	registerClock(registry)
	registerLog(registry, lines.State)
	f.clusters = newClusters(registry)
	f.history = admin.NewHistory(followed, time.Now, f.log)
	f.searcher = newSearcher(f.indices, probe.DefaultConfig().Every, registry, f.log)
	f.fields = verify.NewFields(verify.FieldsEvery, f.indices.Fields, f.indices.Set.Fields, f.indices.OwnedByOther, registry, f.log)
	handler := admin.New(admin.Parts{
		Health:      admin.Health{CanAccept: func() error { return nil }, ElasticsearchUp: f.indexer.ElasticsearchUp},
		Metrics:     registry,
		DeadLetters: followed, Receiver: followed, Rebuilder: rebuilder{f.indexer},
		Status: admin.StatusParts{
			Journal: followed, Index: index{f.client, f.indices, f.indices.Set}, Waiting: f.indexer.Waiting, WrongAliases: f.indexer.WrongAliases, SearchFails: searchFailsIn(f.searcher), Lacking: f.clusters.lacking, Missing: f.clusters.missing, Fields: f.fields.Counted, History: f.history, Log: lines.State,
			Now: time.Now, Started: time.Now(), Process: journal.ProcessName(), Line: f.indices.Lineage, Follows: redacted(f.served.base),
		},
		Allow: allow, Log: f.log,
	})
	return f.listenForAdmin(ctx, f.AdminListen, f.guard, handler, files, f.log)
}

func (f *filling) guard(address net.Addr) error {
	if len(f.AdminTokens) > 0 || isLoopback(address) {
		return nil
	}
	return fmt.Errorf("administration on %s would be open to whoever can reach it: give --to-admin-token-file, or listen on a loopback address", address)
}

// clusters compares how many documents of each kind both clusters have. The other may show more, such
// as some that were deleted so long ago that no change tells it, or lack some that it had taken.
type clusters struct {
	unknown, missed *prometheus.GaugeVec

	mu          sync.Mutex
	more, fewer map[report.Kind]int // comparisons in a row at which there were
	surplus     map[report.Kind]report.Lacking
	lost        map[report.Kind]int
}

// clusterTries is how often a kind is compared before it is told: searches show changes a
// little later in one cluster than in the other.
const clusterTries = 3

func newClusters(reg prometheus.Registerer) *clusters {
	c := &clusters{
		more: map[report.Kind]int{}, fewer: map[report.Kind]int{}, surplus: map[report.Kind]report.Lacking{}, lost: map[report.Kind]int{},
		unknown: verify.UnknownDocuments(), missed: verify.MissingDocuments(),
	}
	reg.MustRegister(c.unknown, c.missed)
	return c
}

// compare takes how many documents searches of the other cluster find, and how many of them there
// should be at least and at most, when none is under way.
func (c *clusters) compare(kind report.Kind, least, most, other int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.more[kind]++; other <= most {
		delete(c.more, kind)
		delete(c.surplus, kind)
		c.unknown.WithLabelValues(string(kind)).Set(0)
	} else if c.more[kind] >= clusterTries {
		c.surplus[kind] = report.Lacking{Kind: kind, Known: most, Indexed: other}
		c.unknown.WithLabelValues(string(kind)).Set(float64(other - most))
	}
	if c.fewer[kind]++; other >= least {
		delete(c.fewer, kind)
		delete(c.lost, kind)
		c.missed.WithLabelValues(string(kind)).Set(0)
	} else if c.fewer[kind] >= clusterTries {
		c.lost[kind] = least - other
		c.missed.WithLabelValues(string(kind)).Set(float64(least - other))
	}
}

func (c *clusters) lacking() (all []report.Lacking) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range report.Kinds() {
		if l, ok := c.surplus[kind]; ok {
			all = append(all, l)
		}
	}
	return all
}

func (c *clusters) missing() map[report.Kind]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.lost)
}

// compare compares the clusters, of each kind of which nothing waits for either.
func (f *filling) compare(ctx context.Context, status admin.Status) {
	other := index{f.client, f.indices, f.indices.Set}
	for _, k := range status.Kinds {
		state := f.journal.State(k.Kind)
		if !state.Whole || state.Fault != nil || state.Waiting+k.Pending+k.Resending > 0 || k.Documents == nil {
			continue
		}
		// What was taken was counted a while ago. Searches of the served cluster lack what somebody
		// has deleted there, and find what somebody else has written.
		least, most := min(*k.Documents, k.Taken)-len(state.Refused), max(*k.Documents, k.Taken)
		n, err := other.Documents(ctx, k.Kind)
		if err == nil && n < least {
			if err = other.refresh(ctx, k.Kind); err == nil {
				n, err = other.Documents(ctx, k.Kind)
			}
		}
		if err == nil {
			f.clusters.compare(k.Kind, least, most, n)
		}
	}
}

// followedJournal is the journal of a follower as its operators see it.
type followedJournal struct{ *follow.Journal }

// Stats implements admin.Journal. While the changes cannot be read, nobody knows how far behind
// the cluster is.
func (j followedJournal) Stats(ctx context.Context) (report.Stats, error) {
	if err := j.Fault(); err != nil {
		return report.Stats{}, err
	}
	stats, err := j.Journal.Stats(ctx)
	stats.Processes = []string{journal.ProcessName()}
	return stats, err
}

// DeadLetter implements admin.DeadLetters.
func (j followedJournal) DeadLetter(ctx context.Context, key report.Key) (report.DeadLetter, error) {
	for after := report.ID(""); ; {
		list, err := j.DeadLetters(ctx, key.Kind, after, 100)
		if err != nil || len(list) == 0 {
			return report.DeadLetter{}, report.ErrNotFound
		}
		for _, l := range list {
			if l.ID == key.ID {
				return l, nil
			}
		}
		after = list[len(list)-1].ID
	}
}

// errFollows answers whoever wants to change what a follower has.
var errFollows = &admin.Problem{
	Status: http.StatusConflict,
	Detail: "This cluster gets what the journal of riskdex serve has, and nothing else. Have the publisher correct the document, or send it to that riskdex.",
}

// ReplaceDead implements admin.DeadLetters.
func (followedJournal) ReplaceDead(context.Context, report.Stamp, report.Change) (report.Stamp, error) {
	return report.Stamp{}, errFollows
}

// DropDead implements admin.DeadLetters.
func (followedJournal) DropDead(context.Context, []report.Stamp) (int, error) { return 0, errFollows }

// Redeliver implements admin.Receiver.
func (followedJournal) Redeliver(context.Context, report.Refusal, []byte) ([]report.Stamp, error) {
	return nil, errFollows
}

// MayRetry implements admin.Receiver.
func (followedJournal) MayRetry(report.Refusal) (may report.MayRetry) { return may }

// Replacement implements admin.Receiver.
func (followedJournal) Replacement(context.Context, report.Key, []byte) (report.Change, error) {
	return report.Change{}, errFollows
}
