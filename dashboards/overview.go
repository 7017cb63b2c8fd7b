package dashboards

// overview returns the row that is open, in which every incident shows at a glance. The ids
// 106 and 109 to 112 belonged to panels that were removed.
func overview() row {
	return row{100, "Is everything all right?", "is-everything-all-right", true, []panel{
		{
			id: 101, title: "Alerts firing", shape: number, unit: "none", width: 3,
			description: "How many alerts of riskdex are firing. The table beside says which.",
			queries:     []query{{`count(ALERTS{alertname=~"Riskdex.+", alertstate="firing", job=~"$job|", instance=~"$instance|", kind=~"$kind|"}) or vector(0)`, "firing"}},
			limits:      []limit{{1, bad}},
		},
		{
			id: 102, title: "riskdex", shape: number, unit: "none", width: 3,
			description: "Whether Prometheus reaches every instance. Away means that at least one did not answer the last scrape.",
			queries:     []query{{`min(up{@})`, "riskdex"}},
			limits:      []limit{{1, good}}, states: upDown(),
			alerts: []string{"RiskdexDown", "RiskdexAbsent"},
		},
		{
			id: 114, title: "Last delivery", shape: number, unit: "s", width: 3,
			description: "For how long nothing was accepted of the selected kinds. The row Intake has each of them, and the senders.",
			queries:     []query{{`time() - max(riskdex_last_accepted_timestamp_seconds{@kind} > 0)`, "ago"}},
			alerts:      []string{"RiskdexSilent"},
		},
		{
			id: 103, title: "Elasticsearch", shape: number, unit: "none", width: 3,
			description: "Whether Elasticsearch answered the last request of every instance. While it is away, deliveries are accepted and wait in the journal.",
			queries:     []query{{`min(riskdex_elasticsearch_up{@})`, "Elasticsearch"}},
			limits:      []limit{{1, good}}, states: upDown(),
			alerts: []string{"RiskdexElasticsearchAway"},
		},
		{
			id: 104, title: "Worst lag", shape: number, unit: "s", width: 3,
			description: "For how long the index has lacked the change that it has lacked longest. 0 when it lacks none.",
			queries:     []query{{`max(riskdex_lag_seconds{@kind})`, "lag"}},
			limits:      []limit{{120, warning}, {900, bad}},
			alerts:      []string{"RiskdexLagging", "RiskdexLaggingBadly"},
		},
		{
			id: 105, title: "Probe waiting", shape: number, unit: "s", width: 3,
			description: "For how long the probe document has been waiting to be found by a search, from the first try to write it. Near 0 all the time is right.",
			queries:     []query{{`max(riskdex_probe_unsearchable_seconds{@})`, "probe"}},
			limits:      []limit{{30, notice}, {120, bad}},
			alerts:      []string{"RiskdexNotSearchable"},
		},
		{
			id: 107, title: "Indices held", shape: number, unit: "none", width: 3,
			description: "Indices that cannot be written to until someone changes something.",
			queries:     []query{{`count(max by (index) (riskdex_held{@index}) == 1) or vector(0)`, "held"}},
			limits:      []limit{{1, bad}},
			alerts:      []string{"RiskdexIndexHeld"},
		},
		{
			id: 108, title: "Dead letters", shape: number, unit: "short", width: 3,
			description: "Documents whose newest version Elasticsearch refuses. Search shows an older version of them, or nothing.",
			queries:     []query{{`sum(max by (job, kind) (riskdex_dead_letters{@kind}))`, "dead"}},
			limits:      []limit{{1, warning}},
			alerts:      []string{"RiskdexDeadLetters"},
		},
		{
			id: 113, title: "What is firing", shape: list, unit: "none", width: 8, height: 8,
			description: "The alerts of riskdex that are firing now. docs/operations.md has a section for each.",
			queries:     []query{{`ALERTS{alertname=~"Riskdex.+", alertstate="firing", job=~"$job|", instance=~"$instance|", kind=~"$kind|"}`, "{{alertname}}"}},
		},
		{
			id: 701, title: "Elasticsearch over time", shape: timeline, unit: "none", width: 8, height: 8,
			description: "Whether Elasticsearch answered the last request, as each instance sees it.",
			queries:     []query{{`max by (instance) (riskdex_elasticsearch_up{@})`, "{{instance}}"}},
			limits:      []limit{{1, good}}, states: upDown(),
			alerts: []string{"RiskdexElasticsearchAway", "RiskdexCutOff"},
		},
		{
			id: 405, title: "Held indices", shape: timeline, unit: "none", width: 8, height: 8,
			description: "Indices that cannot be written to until someone changes something, and why. Everything for them waits in the journal; other kinds go on. `alias_wrong`: apps search something else. `several_clusters`: the address of Elasticsearch leads to them by turns.",
			queries: []query{{`max by (index, reason) (riskdex_held{@index}) and on (index, reason) max by (index, reason) (max_over_time(riskdex_held{@index}[$__range] @ end())) == 1`, "{{index}}: {{reason}}"},
				{`max by (kind) (riskdex_alias_wrong{@kind}) and on (kind) max by (kind) (max_over_time(riskdex_alias_wrong{@kind}[$__range] @ end())) == 1`, "{{kind}}: alias_wrong"},
				{`max by (job) (riskdex_several_clusters{@}) and on (job) max by (job) (max_over_time(riskdex_several_clusters{@}[$__range] @ end())) == 1`, "several_clusters"}},
			limits: []limit{{1, bad}},
			states: []state{{"0", "free", good}, {"1", "held", bad}},
			alerts: []string{"RiskdexIndexHeld", "RiskdexAliasWrong", "RiskdexSeveralClusters"},
		},
		{
			id: 201, title: "Lag by kind", shape: lines, unit: "s", width: 8,
			description: "For how long the index has lacked the change that it has lacked longest. It rises by one second a second while that change waits, and is true after a restart and while Elasticsearch is away.",
			queries:     []query{{`max by (kind) (riskdex_lag_seconds{@kind})`, "{{kind}}"}},
			limits:      []limit{{120, warning}, {900, bad}},
			alerts:      []string{"RiskdexLagging", "RiskdexLaggingBadly"},
		},
		{
			id: 202, title: "Pending by kind", shape: lines, unit: "short", width: 8,
			description: "Changes that are accepted and not settled yet. A backlog that shrinks is being worked off; one that grows while Elasticsearch is up is more than it takes.",
			queries:     []query{{`sum by (kind) (max by (job, kind) (riskdex_changes_pending{@kind}))`, "{{kind}}"}},
			limits:      []limit{{10_000, notice}},
			alerts:      []string{"RiskdexLagging"},
		},
		{
			id: 404, title: "Share of changes that fail", shape: lines, unit: "percentunit", width: 8,
			description: "Of the attempts to send a change, the share that failed: 100 % while nothing gets through, be it one index or all of Elasticsearch.",
			queries:     []query{{`sum by (kind) (rate(riskdex_failures_total{@kind}[$__rate_interval])) / (sum by (kind) (rate(riskdex_failures_total{@kind}[$__rate_interval])) + sum by (kind) (rate(riskdex_settle_seconds_count{@kind}[$__rate_interval])) > 0)`, "{{kind}}"}},
			limits:      []limit{{0.1, warning}, {0.5, bad}},
		},
		{
			id: 402, title: "Failures by reason", shape: lines, unit: "percentunit", width: 8, stacked: true,
			description: "Why Elasticsearch did not take changes when they were sent, or a look at an index failed, each as a share of all attempts.",
			queries:     []query{{`sum by (reason) (rate(riskdex_failures_total{@kind}[$__rate_interval])) / on () group_left () (sum(rate(riskdex_failures_total{@kind}[$__rate_interval])) + sum(rate(riskdex_settle_seconds_count{@kind}[$__rate_interval])) > 0)` + where("reason", "riskdex_failures_total{@kind}"), "{{reason}}"}},
			limits:      []limit{{0.1, warning}},
		},
		{
			id: 204, title: "Search: age of the probe, and failing", shape: lines, unit: "s", width: 8,
			description: "For how long the probe document has been waiting to be found, from the first try to write it, and for how long the search that apps make, over all kinds, has failed at each try. Both are 0 on a good day.",
			queries: []query{
				{`max by (instance) (riskdex_probe_unsearchable_seconds{@})`, "{{instance}} probe"},
				{`max by (instance) (riskdex_search_failing_seconds{@})`, "{{instance}} fails for apps"},
			},
			limits: []limit{{30, notice}, {120, bad}},
			alerts: []string{"RiskdexNotSearchable", "RiskdexSearchFails"},
		},
		{
			id: 406, title: "Dead letters by kind", shape: lines, unit: "short", width: 8,
			description: "Documents whose newest version Elasticsearch refuses. Search shows an older version of them, or nothing, until one is delivered that it takes, or someone retries or drops them.",
			queries:     []query{{`sum by (kind) (max by (job, kind) (riskdex_dead_letters{@kind})) and on (kind) max by (kind) (max_over_time(riskdex_dead_letters{@kind}[$__range] @ end())) > 0`, "{{kind}}"}},
			limits:      []limit{{1, warning}},
			alerts:      []string{"RiskdexDeadLetters"},
		},
		{
			id: 311, title: "Deliveries by class of answer", shape: lines, unit: "reqps", width: 8, stacked: true,
			description: "Accepted is durable. Refused (4xx) is for the sender to change. Not accepted now (5xx) is for the sender to deliver again; the panel beside says why.",
			queries: []query{
				{`sum(rate(riskdex_deliveries_total{@kind, code=~"20[02]"}[$__rate_interval]))`, "accepted"},
				{`sum(rate(riskdex_deliveries_total{@kind, code=~"4.."}[$__rate_interval]))` + where("", `riskdex_deliveries_total{@kind, code=~"4.."}`), "refused"},
				{`sum(rate(riskdex_deliveries_total{@kind, code=~"5.."}[$__rate_interval]))` + where("", `riskdex_deliveries_total{@kind, code=~"5.."}`), "not accepted now"},
			},
			alerts: []string{"RiskdexNotAccepting", "RiskdexRefusing"},
		},
		{
			id: 304, title: "Turned away", shape: lines, unit: "reqps", width: 8,
			description: "Why deliveries were answered with 5xx: the journal did not take them, its secrets cannot be read (door_closed), or riskdex failed (fault). The publisher still has them; whether it sends them again is in its hands. Of those whose sender_left nobody read the answer.",
			queries: []query{{`(sum by (cause) (rate(riskdex_deliveries_not_durable_total{@kind}[$__rate_interval]))` + where("cause", "riskdex_deliveries_not_durable_total{@kind}") + `)
  or label_replace(sum(rate(riskdex_changes_refused_total{@, kind="none", reason="door_closed"}[$__rate_interval]))` + where("", `riskdex_changes_refused_total{@, kind="none", reason="door_closed"}`) + `, "cause", "door_closed", "", "")
  or label_replace(sum(rate(riskdex_deliveries_total{@kind, code="500"}[$__rate_interval]))` + where("", `riskdex_deliveries_total{@kind, code="500"}`) + `, "cause", "fault", "", "")`, "{{cause}}"}},
			limits: []limit{{0.001, bad}},
			alerts: []string{"RiskdexNotAccepting", "RiskdexTurnedAway"},
		},
		{
			id: 307, title: "Refused by reason", shape: lines, unit: "short", width: 8,
			description: "Deliveries and records refused by the receiver within half an hour, for a call of the interface. Each is a report that search does not show.",
			queries:     []query{{`round(sum by (kind, reason) (increase(riskdex_changes_refused_total{@kind, kind!="none"}[30m]))) > 0`, "{{kind}} {{reason}}"}},
			limits:      []limit{{1, warning}},
			alerts:      []string{"RiskdexRefusing"},
		},
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
			id: 606, title: "Free on the journal's disk", shape: lines, unit: "bytes", width: 12,
			description: "What is left on the file system of the journal; nothing where that is not known. Below the low-space mark deliveries are answered with 503.",
			queries:     []query{{`min by (job) (riskdex_journal_free_bytes{@} >= 0)`, "{{job}}"}},
			limits:      []limit{{0, bad}, {freeAlmost, warning}, {freeTight, good}},
			alerts:      []string{"RiskdexJournalDiskFilling", "RiskdexJournalDiskFull"},
		},
	}}
}
