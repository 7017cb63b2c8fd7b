package dashboards

// The edges of the journal's room, in bytes: where the file system gets tight,
// and where it is nearly at the low-space mark from which on riskdex turns
// deliveries away.
const (
	gib        = 1 << 30
	freeTight  = 1 * gib
	freeAlmost = gib / 2
)

func journalRow() row {
	return row{600, "Journal", "journal", []panel{
		{
			id: 601, title: "Time to make a delivery durable", shape: lines, unit: "s", width: 8, log: true,
			description: "From handing a delivery to the journal until it would survive a power cut. It is mostly the disk's time for an fsync.",
			queries: []query{
				{quantile("0.5", "riskdex_journal_append_seconds", "@", ""), "half within"},
				{quantile("0.99", "riskdex_journal_append_seconds", "@", ""), "99 % within"},
			},
			limits: []limit{{0.25, notice}, {1, warning}},
			alerts: []string{"RiskdexJournalSlow"},
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
			alerts:      []string{"RiskdexJournalNearLimit", "RiskdexJournalAtLimit"},
		},
		{
			id: 606, title: "Free on the journal's disk", shape: lines, unit: "bytes", width: 8,
			description: "What is left on the file system of the journal; nothing where that is not known. Below the low-space mark deliveries are answered with 503.",
			queries:     []query{{`min by (job) (riskdex_journal_free_bytes{@} >= 0)`, "{{job}}"}},
			limits:      []limit{{0, bad}, {freeAlmost, warning}, {freeTight, good}},
			alerts:      []string{"RiskdexJournalDiskFilling", "RiskdexJournalDiskFull"},
		},
	}}
}
