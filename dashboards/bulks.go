package dashboards

func bulks() row {
	return row{700, "Elasticsearch bulks", "elasticsearch-bulks", false, []panel{
		{
			id: 701, title: "Elasticsearch over time", shape: timeline, unit: "none", width: 8, height: 8,
			description: "Whether Elasticsearch answered the last request, as each instance sees it.",
			queries:     []query{{`max by (instance) (riskdex_elasticsearch_up{@})`, "{{instance}}"}},
			limits:      []limit{{1, good}}, states: upDown(),
			alerts: []string{"RiskdexElasticsearchAway"},
		},
		{
			id: 702, title: "Time for a bulk, half within", shape: lines, unit: "s", width: 8, log: true,
			description: "What Elasticsearch usually takes for a bulk, answered or not.",
			queries:     []query{{quantile("0.5", "riskdex_bulk_seconds", "@kind", "kind"), "{{kind}}"}},
			limits:      []limit{{5, notice}, {30, warning}},
		},
		{
			id: 703, title: "Time for a bulk, 99 % within", shape: lines, unit: "s", width: 8, log: true,
			description: "What Elasticsearch takes for all but one in a hundred bulks, answered or not.",
			queries:     []query{{quantile("0.99", "riskdex_bulk_seconds", "@kind", "kind"), "{{kind}}"}},
			limits:      []limit{{5, notice}, {30, warning}},
		},
		{
			id: 704, title: "Bulks", shape: lines, unit: "reqps", width: 8, stacked: true,
			description: "Bulk requests a second.",
			queries:     []query{{`sum by (kind) (rate(riskdex_bulk_seconds_count{@kind}[$__rate_interval]))`, "{{kind}}"}},
		},
		{
			id: 705, title: "Changes sent", shape: lines, unit: "cps", width: 8, stacked: true,
			description: "Changes in bulks, a second. It is above what is accepted while a backlog drains, an index is rebuilt, or changes are tried again.",
			queries:     []query{{`sum by (kind) (rate(riskdex_bulk_documents_sum{@kind}[$__rate_interval]))`, "{{kind}}"}},
		},
		{
			id: 706, title: "Changes in a bulk", shape: lines, unit: "short", width: 8,
			description: "How many changes a bulk has on average. Small when it is quiet, large under load; 1 again and again while riskdex waits for Elasticsearch.",
			queries:     []query{{`sum by (kind) (rate(riskdex_bulk_documents_sum{@kind}[$__rate_interval])) / (sum by (kind) (rate(riskdex_bulk_documents_count{@kind}[$__rate_interval])) > 0)`, "{{kind}}"}},
		},
		{
			id: 707, title: "Time for a refresh", shape: lines, unit: "s", width: 12, log: true,
			description: "What Elasticsearch takes for a refresh that riskdex asks for, answered or not. The longer one takes, the longer the next is waited for.",
			queries: []query{
				{quantile("0.5", "riskdex_refresh_seconds", "@kind", ""), "half within"},
				{quantile("0.99", "riskdex_refresh_seconds", "@kind", ""), "99 % within"},
			},
			limits: []limit{{1, notice}},
		},
		{
			id: 708, title: "Refreshes", shape: lines, unit: "reqps", width: 12,
			description: "Refreshes that riskdex asks for, a second; none while a backlog is written. Those that fail leave what was written to the interval at which the index refreshes by itself.",
			queries: []query{
				{`sum by (kind) (rate(riskdex_refresh_seconds_count{@kind}[$__rate_interval]))`, "{{kind}}"},
				{`sum(rate(riskdex_refreshes_failed_total{@kind}[$__rate_interval]))`, "failed"},
			},
		},
	}}
}
