package dashboards

func rebuilding() row {
	return row{500, "Rebuild", "rebuild", false, []panel{
		{
			id: 501, title: "Rebuild under way", shape: timeline, unit: "none", width: 12,
			description: "While a new index is being filled from the journal. The old one goes on serving searches and taking changes until the new one is complete.",
			queries:     []query{{`max by (kind) (riskdex_rebuild_active{@kind})`, "{{kind}}"}},
			states:      []state{{"0", "no", good}, {"1", "rebuilding", neutral}},
		},
		{
			id: 502, title: "Documents still to be sent", shape: lines, unit: "short", width: 12,
			description: "Documents still to be sent to an index that was made anew, or that a repair sends once more. It falls to 0; a line that stays flat during a rebuild is stuck.",
			queries:     []query{{`sum by (kind) (max by (job, kind) (riskdex_documents_resending{@kind}))`, "{{kind}}"}},
			limits:      []limit{{1, notice}},
			alerts:      []string{"RiskdexRebuildStuck", "RiskdexIndexIncomplete"},
		},
		{
			id: 503, title: "Time left", shape: lines, unit: "s", width: 12,
			description: "What is still to be sent at the speed of the last minutes. Nothing while nothing moves.",
			queries:     []query{{`max by (kind) (max by (job, kind) (riskdex_documents_resending{@kind}) / (max by (job, kind) (-deriv(riskdex_documents_resending{@kind}[$__rate_interval])) > 0))`, "{{kind}}"}},
			limits:      []limit{{3600, notice}},
		},
		{
			id: 504, title: "Rebuilds ended within an hour", shape: lines, unit: "short", width: 12,
			description: "How rebuilds ended: done, failed or stopped. One that failed or was stopped left the old index in place.",
			queries:     []query{{`sum by (kind, outcome) (increase(riskdex_rebuilds_total{@kind}[1h])) > 0`, "{{kind}} {{outcome}}"}},
			limits:      []limit{{1, notice}},
			alerts:      []string{"RiskdexRebuildFailed"},
		},
		{
			id: 506, title: "Missing in the index", shape: lines, unit: "short", width: 12,
			description: "Documents that Elasticsearch has taken and searches do not find, at least. They are counted every minute, and every five seconds while some are missing.",
			queries:     []query{{`max by (kind) (riskdex_documents_missing{@kind})`, "{{kind}}"}},
			limits:      []limit{{1, bad}},
			alerts:      []string{"RiskdexIndexDiffers"},
		},
		{
			id: 505, title: "Found by verify and not repaired", shape: lines, unit: "short", width: 12,
			description: "Documents in which the last verification found that the index differs from the journal, and that it did not see repaired. It stays until the next verification, or a new index.",
			queries:     []query{{`max by (kind) (riskdex_verify_differences{@kind})`, "{{kind}}"}},
			limits:      []limit{{1, warning}},
			alerts:      []string{"RiskdexIndexDiffers"},
		},
	}}
}
