package dashboards

func settling() row {
	return row{400, "Settling, retries, failures", "settling-retries-failures", []panel{
		{
			id: 401, title: "Settled by outcome", shape: lines, unit: "cps", width: 8, stacked: true,
			description: "What became of changes. Superseded are those that a newer version of the same document overtook.",
			queries:     []query{{`sum by (outcome) (max by (job, kind, outcome) (rate(riskdex_changes_settled_total{@kind}[$__rate_interval])))`, "{{outcome}}"}},
		},
		{
			id: 402, title: "Failures by reason", shape: lines, unit: "cps", width: 8,
			description: "Changes that Elasticsearch did not take when they were sent, and failed looks at an index. Every attempt counts.",
			queries:     []query{{`sum by (reason) (rate(riskdex_failures_total{@kind}[$__rate_interval])) > 0`, "{{reason}}"}},
			limits:      []limit{{1, notice}},
		},
		{
			id: 403, title: "Retries by reason", shape: lines, unit: "cps", width: 8,
			description: "Changes that were given back to the journal to be sent again. Every attempt counts.",
			queries:     []query{{`sum by (reason) (rate(riskdex_retries_total{@kind}[$__rate_interval])) > 0`, "{{reason}}"}},
			limits:      []limit{{1, notice}},
		},
		{
			id: 404, title: "Failing share", shape: lines, unit: "percentunit", width: 8,
			description: "Of the attempts to send a change, the share that failed. The alert looks at ten minutes.",
			queries:     []query{{`sum by (kind) (rate(riskdex_failures_total{@kind}[$__rate_interval])) / (sum by (kind) (rate(riskdex_failures_total{@kind}[$__rate_interval])) + sum by (kind) (rate(riskdex_settle_seconds_count{@kind}[$__rate_interval])) > 0)`, "{{kind}}"}},
			limits:      []limit{{0.1, warning}, {0.5, bad}},
			alerts:      []string{"RiskdexFailing"},
		},
		{
			id: 405, title: "Held indices", shape: timeline, unit: "none", width: 16,
			description: "Indices that cannot be written to until someone changes something, and why. Everything for them waits in the journal; other kinds go on.",
			queries:     []query{{`max by (index, reason) (riskdex_held{@index}) and on (index, reason) max by (index, reason) (max_over_time(riskdex_held{@index}[$__range])) == 1`, "{{index}}: {{reason}}"}},
			limits:      []limit{{1, bad}},
			states:      []state{{"0", "free", good}, {"1", "held", bad}},
			alerts:      []string{"RiskdexIndexHeld"},
		},
		{
			id: 406, title: "Dead letters by kind", shape: lines, unit: "short", width: 8,
			description: "Documents whose newest version Elasticsearch refuses. Search shows an older version of them, or nothing, until one is delivered that it takes, or someone retries or drops them.",
			queries:     []query{{`sum by (kind) (max by (job, kind) (riskdex_dead_letters{@kind}))`, "{{kind}}"}},
			limits:      []limit{{1, warning}},
			alerts:      []string{"RiskdexDeadLettersGrowing", "RiskdexDeadLettersWaiting"},
		},
		{
			id: 407, title: "Fields left out", shape: lines, unit: "cps", width: 8,
			description: "Fields that documents were sent without, because what the record has for them does not fit. The document is found by its other fields. A sudden rise means that the publisher changed a format.",
			queries:     []query{{`sum by (kind, field) (rate(riskdex_fields_left_out_total{@kind}[$__rate_interval])) > 0`, "{{kind}} {{field}}"}},
			limits:      []limit{{1, notice}},
		},
		{
			id: 408, title: "Unaccounted changes", shape: lines, unit: "short", width: 8, signed: true,
			description: "Accepted less indexed, deleted, superseded, dead and pending. Always 0: anything else means that a change was lost from the books, or counted twice.",
			queries:     []query{{`max by (job, kind) (job_instance_kind:riskdex_changes_unaccounted:diff{@every}) != 0 or min by (job, kind) (job_instance_kind:riskdex_changes_unaccounted:diff{@every})`, "{{job}} {{kind}}"}},
			limits:      []limit{{1, bad}},
			alerts:      []string{"RiskdexUnaccounted"},
		},
	}}
}
