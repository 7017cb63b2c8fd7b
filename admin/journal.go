package admin

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// Journal is what the metrics need of the journal.
type Journal interface {
	// Stats returns one consistent snapshot.
	Stats(ctx context.Context) (report.Stats, error)
}

// journalCollector exposes the sums of the journal. They are stored in the transactions of
// the changes that they count, so they survive a restart, and a scrape never sees a change
// in two places or in none. All processes that share the journal expose the same values.
type journalCollector struct {
	journal  Journal
	expected Expected
	started  time.Time
	now      func() time.Time
	log      *slog.Logger

	unreadable atomic.Bool // at the last scrape

	accepted, settled, pending, resending, deadLetters, lag, refused           *prometheus.Desc
	refusedDocuments                                                           *prometheus.Desc
	history, historyBytes, historyDropped                                      *prometheus.Desc
	tombstones, dropped, behind                                                *prometheus.Desc
	bytes, used, limit, free, minFree, processes, lost, wrong, unbuilt, backup *prometheus.Desc
	clusters, arrived, due                                                     *prometheus.Desc
}

// NewJournalCollector returns a collector of the metrics that the journal keeps. Lag is
// measured up to now.
func NewJournalCollector(journal Journal, expected Expected, now func() time.Time, log *slog.Logger) prometheus.Collector {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("riskdex_"+name, help, labels, nil)
	}
	return &journalCollector{
		journal: journal, expected: expected, started: now(), now: now, log: log,
		arrived:          describe("last_accepted_timestamp_seconds", "When the last delivery of a kind, or from a sender with a name, was accepted, in seconds since 1970; 0 if none ever was.", "kind", "sender"),
		due:              describe("delivery_expected_timestamp_seconds", "By when the next is expected, by --expect-every or the longest pause of the four weeks before the last, in seconds since 1970; 0 if not known.", "kind", "sender"),
		accepted:         describe("changes_accepted_total", "Changes accepted over the life of the journal.", "kind", "op"),
		settled:          describe("changes_settled_total", "Changes settled over the life of the journal. Accepted is always settled plus pending.", "kind", "outcome"),
		pending:          describe("changes_pending", "Documents whose newest version is not settled yet.", "kind"),
		resending:        describe("documents_resending", "Settled documents marked to be sent again, to fill or repair an index.", "kind"),
		deadLetters:      describe("dead_letters", "Documents whose newest version Elasticsearch refuses.", "kind"),
		refusedDocuments: describe("refused_documents", "Documents whose newest record was refused.", "kind"),
		tombstones:       describe("tombstones", "Deleted documents remembered, so that nothing older brings them back.", "kind"),
		dropped:          describe("tombstones_dropped_total", "Tombstones dropped over the life of the journal.", "kind"),
		history:          describe("history_entries", "Entries of the history of documents.", "kind"),
		historyBytes:     describe("history_bytes", "What the history counts for: the records in it, and 200 bytes per entry.", "kind"),
		historyDropped:   describe("history_dropped_total", "Entries of the history dropped over the life of the journal, because of --history or --history-max-bytes.", "kind"),
		lag:              describe("lag_seconds", "How long the index has lacked the change that it has lacked longest.", "kind"),
		behind:           describe("clock_behind_seconds", "How far in the future, by this machine's clock, the newest waiting change was accepted."),
		bytes:            describe("journal_bytes", "Size of the journal on disk."),
		used:             describe("journal_used_bytes", "What counts for the journal's limit: its size without free space in its file, plus its log once more; in PostgreSQL its records."),
		limit:            describe("journal_limit_bytes", "--journal-max-bytes, the limit of riskdex_journal_used_bytes; 0 if there is none."),
		free:             describe("journal_free_bytes", "Free space on the journal's disk; -1 if unknown."),
		minFree:          describe("journal_min_free_bytes", "--journal-min-free, the free space below which deliveries are turned away; 0 if there is none."),
		processes:        describe("processes", "Processes that work on the journal."),
		lost:             describe("journal_lost_seconds", "Length of the period of which the journal may lack acknowledged changes, until that is acknowledged."),
		wrong:            describe("verify_differences", "Documents that the last verification found to differ, and did not repair.", "kind"),
		unbuilt:          describe("rebuild_failed", "1 after a rebuild failed, until another begins or it is given up.", "kind"),
		clusters:         describe("several_clusters", "1 while the address of Elasticsearch leads to several clusters by turns, and until what they lack was sent to the one that stays."),
		backup:           describe("journal_backup_timestamp_seconds", "When riskdex began its newest backup, in seconds since 1970; 0 if there is none."),
		refused:          describe("refusals_kept", "Refused deliveries and records kept for inspection."),
	}
}

// Describe implements prometheus.Collector.
func (c *journalCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.accepted, c.settled, c.pending, c.resending, c.deadLetters, c.refusedDocuments, c.tombstones, c.dropped, c.history, c.historyBytes, c.historyDropped, c.lag, c.bytes, c.used, c.limit, c.free, c.minFree, c.refused, c.processes, c.lost, c.wrong, c.unbuilt, c.backup, c.behind, c.clusters, c.arrived, c.due} {
		out <- d
	}
}

// Collect implements prometheus.Collector. While the journal cannot be read, these metrics are
// missing, which raises an alert, rather than wrong.
func (c *journalCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	stats, err := c.journal.Stats(ctx)
	if err != nil {
		if !c.unreadable.Swap(true) {
			c.log.Error("cannot read the journal's sums for the metrics", "error", err)
		}
		out <- prometheus.NewInvalidMetric(c.pending, err)
		return
	}
	c.unreadable.Store(false)
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, kind := range report.AllKinds() {
		k := stats.Kinds[kind]
		for _, op := range report.Ops() {
			counter(c.accepted, k.Accepted[op], string(kind), string(op))
		}
		for _, outcome := range report.Outcomes() {
			counter(c.settled, k.Settled[outcome], string(kind), string(outcome))
		}
		gauge(c.pending, float64(k.Pending), string(kind))
		gauge(c.resending, float64(k.Resending), string(kind))
		gauge(c.deadLetters, float64(k.DeadLetters), string(kind))
		gauge(c.refusedDocuments, float64(k.RefusedDocuments), string(kind))
		gauge(c.tombstones, float64(k.Tombstones), string(kind))
		counter(c.dropped, k.Dropped, string(kind))
		gauge(c.history, float64(k.History), string(kind))
		gauge(c.historyBytes, float64(k.HistoryBytes), string(kind))
		counter(c.historyDropped, k.HistoryDropped, string(kind))
		gauge(c.lag, lagSeconds(k.OldestWaiting, c.now()), string(kind))
	}
	behind := 0.0
	for _, kind := range report.Kinds() {
		behind = max(behind, stats.Kinds[kind].NewestWaiting.Sub(c.now()).Seconds())
		gauge(c.wrong, float64(report.VerifiedIn(stats.Notes, kind).Left(stats.Kinds[kind].Resending)), string(kind))
		failed := 0.0
		if !report.RebuildFailedIn(stats.Notes, kind).At.IsZero() {
			failed = 1
		}
		gauge(c.unbuilt, failed, string(kind))
	}
	kinds, senders := c.expected.arrived(stats.Notes, c.started, c.now())
	for _, a := range append(slices.Collect(maps.Values(kinds)), senders...) {
		gauge(c.arrived, secondsOf(a.Last), string(a.Kind), a.Sender)
		gauge(c.due, secondsOf(a.Expected), string(a.Kind), a.Sender)
	}
	gauge(c.behind, behind)
	gauge(c.bytes, float64(stats.Bytes))
	gauge(c.used, float64(stats.Used))
	gauge(c.limit, float64(stats.Limit))
	gauge(c.free, float64(stats.Free))
	gauge(c.minFree, float64(stats.MinFree))
	gauge(c.refused, float64(stats.Refused))
	var backup *time.Time
	if at := report.BackupIn(stats.Notes); !at.IsZero() {
		backup = &at
	}
	gauge(c.backup, secondsOf(backup))
	several := 0.0
	if report.TurnsIn(stats.Notes).Wrong(stats.Notes, c.now()) {
		several = 1
	}
	gauge(c.clusters, several)
	gauge(c.lost, stats.Loss.Seconds())
	gauge(c.processes, float64(len(stats.Processes)))
}

// secondsOf returns a time as metrics have it, 0 if there is none.
func secondsOf(at *time.Time) float64 {
	if at == nil {
		return 0
	}
	return float64(at.UnixMicro()) / 1e6
}

// statsTimeout bounds how long a scrape waits for the journal. Prometheus waits ten seconds
// for the scrape, and a database that does not answer must leave time for the metrics of
// the process.
const statsTimeout = 5 * time.Second
