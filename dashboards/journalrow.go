package dashboards

// Limits of the room on the journal's disk, in bytes, as the alert has them: roomTight is getting
// low, and roomAlmost is close to where riskdex turns deliveries away.
const (
	roomTight  = 768 << 20
	roomAlmost = 256 << 20
)

func journalRow() row {
	return row{600, "Journal", "journal", false, []panel{
		{
			id: 601, title: "Time to make a delivery durable", shape: lines, unit: "s", width: 12, log: true,
			description: "From handing a delivery to the journal until it would survive a power cut. It is mostly the disk's time for an fsync.",
			queries: []query{
				{quantile("0.5", "riskdex_journal_append_seconds", "@", ""), "half within"},
				{quantile("0.99", "riskdex_journal_append_seconds", "@", ""), "99 % within"},
				{`max(riskdex_journal_oldest_wait_seconds{@}) > 1`, "still waiting"},
			},
			limits: []limit{{0.25, notice}, {1, warning}},
			alerts: []string{"RiskdexJournalSlow"},
		},
		{
			id: 606, title: "Room on the journal's disk", shape: lines, unit: "bytes", width: 12,
			description: "What is left on the disk of the journal until deliveries are answered with 503, which --journal-min-free says; nothing where that is not known.",
			queries:     []query{{`min by (job) ((riskdex_journal_free_bytes{@} >= 0) - riskdex_journal_min_free_bytes{@})`, "{{job}}"}},
			limits:      []limit{{0, bad}, {roomAlmost, warning}, {roomTight, good}},
			alerts:      []string{"RiskdexJournalDiskFilling"},
		},
		{
			id: 602, title: "Deliveries made durable", shape: lines, unit: "wps", width: 8,
			description: "Deliveries that the journal took, a second. Many share one fsync under load.",
			queries:     []query{{`sum by (instance) (rate(riskdex_journal_append_seconds_count{@}[$__rate_interval]))`, "{{instance}}"}},
		},
		{
			id: 603, title: "Growth", shape: lines, unit: "Bps", width: 8, signed: true,
			description: "How fast the journal's file grows. It holds the newest version of every document, so it follows the size of the content, not the number of deliveries.",
			queries:     []query{{`max by (job) (deriv(riskdex_journal_bytes{@}[$__rate_interval]))`, "{{job}}"}},
			limits:      []limit{{1 << 20, notice}},
		},
		{
			id: 604, title: "Size", shape: lines, unit: "bytes", width: 8,
			description: "Size of the journal on disk, what of it is in use, and the limit for that where one is set. A gap means that the journal could not be read.",
			queries: []query{
				{`max by (job) (riskdex_journal_bytes{@})`, "{{job}} size"},
				{`max by (job) (riskdex_journal_used_bytes{@})`, "{{job}} in use"},
				{`max by (job) (riskdex_journal_limit_bytes{@}) > 0`, "{{job}} limit"},
			},
			alerts: []string{"RiskdexJournalUnreadable"},
		},
		{
			id: 605, title: "Share of the limit", shape: lines, unit: "percentunit", width: 8,
			description: "What the journal uses as a share of what it may. Nothing where no limit is set. At the limit deliveries other than deletes are answered with 503.",
			queries:     []query{{`max by (job) (riskdex_journal_used_bytes{@} / (riskdex_journal_limit_bytes{@} > 0))`, "{{job}}"}},
			limits:      []limit{{0.8, warning}, {0.95, bad}},
			alerts:      []string{"RiskdexJournalNearLimit"},
		},
		{
			id: 607, title: "Deleted documents remembered", shape: lines, unit: "short", width: 8,
			description: "Tombstones, and how many were dropped in a day. Each is dropped once its delete has been in the index for --keep-deleted.",
			queries: []query{
				{`sum by (kind) (max by (job, kind) (riskdex_tombstones{@kind}))`, "{{kind}}"},
				{`sum by (kind) (max by (job, kind) (increase(riskdex_tombstones_dropped_total{@kind}[1d])))`, "{{kind}}, dropped"},
			},
		},
		{
			id: 612, title: "History", shape: lines, unit: "short", width: 8,
			description: "Entries of the history of documents, and how many were dropped in a day. 0 without --history.",
			queries: []query{
				{`sum by (kind) (max by (job, kind) (riskdex_history_entries{@kind}))`, "{{kind}}"},
				{`sum by (kind) (max by (job, kind) (increase(riskdex_history_dropped_total{@kind}[1d])))`, "{{kind}}, dropped"},
			},
		},
		{
			id: 613, title: "Size of the history", shape: lines, unit: "bytes", width: 8,
			description: "What the history counts for toward --history-max-bytes. In the journal it takes less, because it is compressed.",
			queries:     []query{{`sum by (kind) (max by (job, kind) (riskdex_history_bytes{@kind}))`, "{{kind}}"}},
		},
		{
			id: 608, title: "Time from which changes may be missing", shape: lines, unit: "s", width: 8,
			description: "How long the time is from which the journal may lack changes that it had acknowledged. 0 when none is known, and once somebody has acknowledged the loss.",
			queries:     []query{{`max by (job) (riskdex_journal_lost_seconds{@})`, "{{job}}"}},
			limits:      []limit{{0.000001, bad}},
			alerts:      []string{"RiskdexChangesLost"},
		},
		{
			id: 609, title: "Not known to the journal", shape: lines, unit: "short", width: 8,
			description: "Documents that the index has beyond those that the journal has, where that is most of the index: it is not the right journal, or an old backup. Otherwise 0.",
			queries:     []query{{`max by (kind) (riskdex_documents_unknown{@kind})`, "{{kind}}"}},
			limits:      []limit{{1, bad}},
			alerts:      []string{"RiskdexJournalLacksDocuments"},
		},
		{
			id: 610, title: "Age of the newest backup", shape: lines, unit: "s", width: 8,
			description: "How old the newest backup is that riskdex has made of the journal, and how old it may become where --backup-every says that. Nothing where there is no backup.",
			queries: []query{
				{`time() - max by (job) (riskdex_journal_backup_timestamp_seconds{@}) > 0`, "{{job}}"},
				{`max by (job) (riskdex_journal_backup_every_seconds{@}) > 0`, "{{job}} may become"},
			},
			alerts: []string{"RiskdexBackupOverdue"},
		},
		{
			id: 611, title: "Records exported", shape: lines, unit: "short", width: 8,
			description: "Records that riskdex export has written, and exports that were broken off, in the hour before.",
			queries: []query{
				{`sum by (kind) (increase(riskdex_exported_records_total{@kind}[1h]))`, "{{kind}}"},
				{`sum(increase(riskdex_exports_total{result="broken", @}[1h]))`, "exports broken off"},
			},
		},
		{
			id: 614, title: "Changes told", shape: lines, unit: "short", width: 8,
			description: "Changes that the feed of changes told in the hour before, to all clients; clients that had to begin anew, calls that wait, and lookups of a document, a history or a delivery that were turned away.",
			queries: []query{
				{`sum by (kind) (increase(riskdex_feed_changes_total{@kind}[1h]))`, "{{kind}}"},
				{`sum(increase(riskdex_feed_gone_total{@}[1h]))`, "begin anew"},
				{`sum(riskdex_feed_waiting{@})`, "waiting"},
				{`sum(increase(riskdex_lookups_total{code="503", @}[1h]))`, "lookups turned away"},
			},
		},
	}}
}
