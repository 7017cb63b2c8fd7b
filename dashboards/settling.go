package dashboards

func settling() row {
	return row{400, "Settling, retries, failures", "settling-retries-failures", false, []panel{
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
			id: 406, title: "Dead letters by kind", shape: lines, unit: "short", width: 8,
			description: "Documents whose newest version Elasticsearch refuses. Search shows an older version of them, or nothing, until one is delivered that it takes, or someone retries or drops them.",
			queries:     []query{{`sum by (kind) (max by (job, kind) (riskdex_dead_letters{@kind})) and on (kind) max by (kind) (max_over_time(riskdex_dead_letters{@kind}[$__range] @ end())) > 0`, "{{kind}}"}},
			limits:      []limit{{1, warning}},
			alerts:      []string{"RiskdexDeadLetters"},
		},
		{
			id: 401, title: "Settled by outcome", shape: lines, unit: "cps", width: 8, stacked: true,
			description: "What became of changes. Superseded are those that a newer version of the same document overtook.",
			queries:     []query{{`sum by (outcome) (max by (job, kind, outcome) (rate(riskdex_changes_settled_total{@kind}[$__rate_interval]))) > 0`, "{{outcome}}"}},
		},
		{
			id: 403, title: "Retries by reason", shape: lines, unit: "cps", width: 8,
			description: "Changes that were given back to the journal to be sent again. Every attempt counts. Overtaken: the index had a version of them that was ahead of the journal, and they go out again above it.",
			queries: []query{
				{`sum by (reason) (rate(riskdex_retries_total{@kind}[$__rate_interval])) > 0`, "{{reason}}"},
				{`sum (rate(riskdex_versions_overtaken_total{@kind}[$__rate_interval]))`, "overtaken"},
			},
			limits: []limit{{1, notice}},
		},
		{
			id: 407, title: "Fields left out", shape: lines, unit: "cps", width: 8,
			description: "Fields that documents were sent without, because what the record has for them does not fit. The document is found by its other fields. A sudden rise means that the publisher changed a format.",
			queries:     []query{{`sum by (kind, field) (rate(riskdex_fields_left_out_total{@kind}[$__rate_interval])) > 0`, "{{kind}} {{field}}"}},
			limits:      []limit{{1, notice}},
		},
		{
			id: 409, title: "Documents with a field", shape: lines, unit: "percentunit", width: 8,
			description: "The share of the documents that searches find that have what nearly all should have. A feed whose records are not understood is indexed without any error: it shows here.",
			queries:     []query{{`max by (kind, field) (riskdex_documents_with_field{@kind, field=~"title|country|risk_level|location"}) / on (kind) group_left () max by (kind) (riskdex_documents_with_field{@kind, field="id"} > 0)`, "{{kind}} {{field}}"}},
			alerts:      []string{"RiskdexFieldsMissing"},
		},
		{
			id: 408, title: "Unaccounted changes", shape: lines, unit: "short", width: 8, signed: true,
			description: "Accepted less indexed, deleted, superseded, dead and pending. Always 0: anything else means that a change was lost from the totals, or counted twice.",
			queries:     []query{{`max by (job, kind) (job_instance_kind:riskdex_changes_unaccounted:diff{@every}) != 0 or min by (job, kind) (job_instance_kind:riskdex_changes_unaccounted:diff{@every})`, "{{job}} {{kind}}"}},
			limits:      []limit{{1, bad}},
			alerts:      []string{"RiskdexUnaccounted"},
		},
	}}
}
