package dashboards

// overview returns the row that is open, in which every incident shows at a glance. The ids
// 106, 107 and 109 to 112 belonged to panels that were removed.
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
			alerts: []string{"RiskdexDown"},
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
			alerts:      []string{"RiskdexLagging"},
		},
		{
			id: 208, title: "Fresh, of 28 days", shape: number, unit: "percentunit", width: 3,
			description: "Of the time within the last 28 days in which Prometheus saw riskdex, the share in which the index lacked no change for longer than a minute. An outage of riskdex itself is not in it. The objective is 99.5 %: three hours and twenty minutes in 28 days may be worse, for whatever reason.",
			queries:     []query{{`avg_over_time((max(riskdex_lag_seconds{@kind}) <= bool 60)[28d:5m])`, "fresh"}},
			limits:      []limit{{0, bad}, {0.99, warning}, {0.995, good}},
		},
		{
			id: 105, title: "Probe waiting", shape: number, unit: "s", width: 3,
			description: "For how long the probe document has been waiting to be found by a search, from the first try to write it. Near 0 all the time is right.",
			queries:     []query{{`max(riskdex_probe_unsearchable_seconds{@})`, "probe"}},
			limits:      []limit{{30, notice}, {120, bad}},
			alerts:      []string{"RiskdexNotSearchable"},
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
			id: 201, title: "Lag by kind", shape: lines, unit: "s", width: 8, height: 8,
			description: "For how long the index has lacked the change that it has lacked longest. It rises by one second a second while that change waits, and is true after a restart and while Elasticsearch is away.",
			queries:     []query{{`max by (kind) (riskdex_lag_seconds{@kind})`, "{{kind}}"}},
			limits:      []limit{{120, warning}, {900, bad}},
			alerts:      []string{"RiskdexLagging"},
		},
		{
			id: 311, title: "Deliveries by class of answer", shape: lines, unit: "reqps", width: 24,
			description: "Accepted is durable. Refused (4xx) is for the sender to change. Not accepted now (5xx) is for the sender to deliver again; Turned away, in Intake, says why. What is usual at this hour is seen by the week before.",
			queries: []query{
				{`sum(rate(riskdex_deliveries_total{@kind, code=~"20[02]"}[$__rate_interval]))`, "accepted"},
				{`sum(rate(riskdex_deliveries_total{@kind, code=~"20[02]"}[$__rate_interval] offset 1w))`, "accepted, a week before"},
				{`sum(rate(riskdex_deliveries_total{@kind, code=~"4.."}[$__rate_interval]))` + where("", `riskdex_deliveries_total{@kind, code=~"4.."}`), "refused"},
				{`sum(rate(riskdex_deliveries_total{@kind, code=~"5.."}[$__rate_interval]))` + where("", `riskdex_deliveries_total{@kind, code=~"5.."}`), "not accepted now"},
			},
			alerts: []string{"RiskdexNotAccepting", "RiskdexRefusing"},
		},
	}}
}
