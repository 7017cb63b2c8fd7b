package dashboards

func overview() row {
	return row{100, "Is everything all right?", "is-everything-all-right", []panel{
		{
			id: 101, title: "Alerts firing", shape: number, unit: "none", width: 4,
			description: "How many alerts of riskdex are firing. The table beside says which.",
			queries:     []query{{`count(ALERTS{alertname=~"Riskdex.+", alertstate="firing", job=~"$job|", instance=~"$instance|", kind=~"$kind|"}) or vector(0)`, "firing"}},
			limits:      []limit{{1, bad}},
		},
		{
			id: 102, title: "riskdex", shape: number, unit: "none", width: 4,
			description: "Whether Prometheus reaches every instance. Away means that at least one did not answer the last scrape.",
			queries:     []query{{`min(up{@})`, "riskdex"}},
			limits:      []limit{{1, good}}, states: upDown(),
			alerts: []string{"RiskdexDown", "RiskdexAbsent"},
		},
		{
			id: 103, title: "Elasticsearch", shape: number, unit: "none", width: 4,
			description: "Whether Elasticsearch answered the last request of every instance. While it is away, deliveries are accepted and wait in the journal.",
			queries:     []query{{`min(riskdex_elasticsearch_up{@})`, "Elasticsearch"}},
			limits:      []limit{{1, good}}, states: upDown(),
		},
		{
			id: 104, title: "Worst lag", shape: number, unit: "s", width: 4,
			description: "For how long the index has lacked the change that it has lacked longest. 0 when it lacks none.",
			queries:     []query{{`max(riskdex_lag_seconds{@kind})`, "lag"}},
			limits:      []limit{{120, warning}, {900, bad}},
		},
		{
			id: 105, title: "Probe waiting", shape: number, unit: "s", width: 4,
			description: "For how long the probe document has been waiting to be found by a search, from the first try to write it. Near 0 all the time is right.",
			queries:     []query{{`max(riskdex_probe_unsearchable_seconds{@})`, "probe"}},
			limits:      []limit{{30, notice}, {120, bad}},
		},
		{
			id: 106, title: "Pending", shape: number, unit: "short", width: 4,
			description: "Changes that are accepted and not settled yet. A few are normal; what counts is how long they wait.",
			queries:     []query{{`sum(max by (job, kind) (riskdex_changes_pending{@kind}))`, "pending"}},
			limits:      []limit{{10_000, notice}},
		},
		{
			id: 107, title: "Indices held", shape: number, unit: "none", width: 4,
			description: "Indices that cannot be written to until someone changes something.",
			queries:     []query{{`count(max by (index) (riskdex_held{@index}) == 1) or vector(0)`, "held"}},
			limits:      []limit{{1, bad}},
		},
		{
			id: 108, title: "Dead letters", shape: number, unit: "short", width: 4,
			description: "Documents whose newest version Elasticsearch refuses. Search shows an older version of them, or nothing.",
			queries:     []query{{`sum(max by (job, kind) (riskdex_dead_letters{@kind}))`, "dead"}},
			limits:      []limit{{1, warning}},
		},
		{
			id: 109, title: "Refused in this time", shape: number, unit: "short", width: 4,
			description: "Deliveries and records that were refused at the door in the time that is shown.",
			queries:     []query{{`sum(increase(riskdex_changes_refused_total{@kind}[$__range]))`, "refused"}},
			limits:      []limit{{1, warning}},
		},
		{
			id: 110, title: "Turned away in this time", shape: number, unit: "short", width: 4,
			description: "Deliveries that riskdex could not make durable (503) or failed on, in the time that is shown. The publisher has to send them again.",
			queries:     []query{{`sum(increase(riskdex_deliveries_total{@kind, code=~"5.."}[$__range]))`, "turned away"}},
			limits:      []limit{{1, bad}},
		},
		{
			id: 111, title: "Accepted in this time", shape: number, unit: "short", width: 4,
			description: "Deliveries that were accepted in the time that is shown. None at all is worth a look, if it is not usual.",
			queries:     []query{{`sum(increase(riskdex_deliveries_total{@kind, code="202"}[$__range]))`, "accepted"}},
			limits:      []limit{{0, warning}, {1, good}},
		},
		{
			id: 112, title: "Unaccounted", shape: number, unit: "none", width: 4,
			description: "Accepted changes that are neither settled nor pending. Anything but 0 means that the journal's books do not agree.",
			queries:     []query{{`max(abs(job_instance_kind:riskdex_changes_unaccounted:diff{@every}))`, "unaccounted"}},
			limits:      []limit{{1, bad}},
		},
		{
			id: 113, title: "What is firing", shape: list, unit: "none", width: 24, height: 6,
			description: "The alerts of riskdex that are firing now. docs/operations.md has a section for each.",
			queries:     []query{{`ALERTS{alertname=~"Riskdex.+", alertstate="firing", job=~"$job|", instance=~"$instance|", kind=~"$kind|"}`, "{{alertname}}"}},
		},
	}}
}
