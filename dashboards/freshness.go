package dashboards

func freshness() row {
	return row{200, "Lag and freshness", "lag-and-freshness", false, []panel{
		{
			id: 202, title: "Pending by kind", shape: lines, unit: "short", width: 8,
			description: "Changes that are accepted and not settled yet. A backlog that shrinks is being worked off; one that grows while Elasticsearch is up is more than it takes.",
			queries:     []query{{`sum by (kind) (max by (job, kind) (riskdex_changes_pending{@kind}))`, "{{kind}}"}},
			limits:      []limit{{10_000, notice}},
			alerts:      []string{"RiskdexLagging"},
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
			id: 203, title: "Probe: accepted to found", shape: lines, unit: "s", width: 8,
			description: "How long a probe document took from acceptance until a search found it. It goes the whole way that a delivery goes, so it includes the refresh of the index, which riskdex asks for. Without that (--refresh-share 0) the refresh alone is up to a second, where it is as Elasticsearch has it by default.",
			queries: []query{
				{quantile("0.5", "riskdex_searchable_seconds", "@", ""), "half within"},
				{quantile("0.95", "riskdex_searchable_seconds", "@", ""), "95 % within"},
			},
			limits: []limit{{30, notice}},
		},
		{
			id: 205, title: "Probes found", shape: lines, unit: "cpm", width: 8,
			description: "Probe documents found by a search, a minute. A line at 0 means that nobody checks whether search sees what is written.",
			queries:     []query{{`60 * sum by (instance) (rate(riskdex_searchable_seconds_count{@}[$__rate_interval]))`, "{{instance}}"}},
			limits:      []limit{{0, warning}, {0.01, good}},
		},
		{
			id: 206, title: "Accepted to settled, half within", shape: lines, unit: "s", width: 12, log: true,
			description: "Half of the changes were settled within this time. After an absence of Elasticsearch it shows how long the backlog had waited.",
			queries:     []query{{quantile("0.5", "riskdex_settle_seconds", "@kind", "kind"), "{{kind}}"}},
			limits:      []limit{{120, warning}},
		},
		{
			id: 207, title: "Accepted to settled, 99 % within", shape: lines, unit: "s", width: 12, log: true,
			description: "All but one in a hundred changes were settled within this time.",
			queries:     []query{{quantile("0.99", "riskdex_settle_seconds", "@kind", "kind"), "{{kind}}"}},
			limits:      []limit{{120, warning}},
		},
	}}
}
