package dashboards

func intake() row {
	return row{300, "Intake", "intake", false, []panel{
		{
			id: 304, title: "Turned away", shape: lines, unit: "reqps", width: 8,
			description: "Why deliveries were answered with 5xx: the journal did not take them, its secrets cannot be read (door_closed), or riskdex failed (fault). The publisher still has them; whether it sends them again is in its hands. Of those whose sender_left nobody read the answer.",
			queries: []query{{`(sum by (cause) (rate(riskdex_deliveries_not_durable_total{@kind}[$__rate_interval]))` + where("cause", "riskdex_deliveries_not_durable_total{@kind}") + `)
  or label_replace(sum(rate(riskdex_changes_refused_total{@, kind="none", reason="door_closed"}[$__rate_interval]))` + where("", `riskdex_changes_refused_total{@, kind="none", reason="door_closed"}`) + `, "cause", "door_closed", "", "")
  or label_replace(sum(rate(riskdex_deliveries_total{@kind, code="500"}[$__rate_interval]))` + where("", `riskdex_deliveries_total{@kind, code="500"}`) + `, "cause", "fault", "", "")`, "{{cause}}"}},
			limits: []limit{{0.001, bad}},
			alerts: []string{"RiskdexNotAccepting"},
		},
		{
			id: 307, title: "Refused by reason", shape: lines, unit: "short", width: 8,
			description: "Deliveries and records refused by the receiver within half an hour, for a call of the interface. Each is a report that search does not show.",
			queries:     []query{{`round(sum by (kind, reason) (increase(riskdex_changes_refused_total{@kind, kind!="none"}[30m]))) > 0`, "{{kind}} {{reason}}"}},
			limits:      []limit{{1, warning}},
			alerts:      []string{"RiskdexRefusing"},
		},
		{
			id: 301, title: "Deliveries by kind", shape: lines, unit: "reqps", width: 8, stacked: true,
			description: "Requests answered, by kind of content. The kind none is for paths that are not part of the interface.",
			queries:     []query{{`sum by (kind) (rate(riskdex_deliveries_total{@kind}[$__rate_interval])) > 0`, "{{kind}}"}},
		},
		{
			id: 302, title: "Deliveries by method", shape: lines, unit: "reqps", width: 8, stacked: true,
			description: "POST creates, PUT updates or corrects, DELETE removes; other is not part of the interface.",
			queries:     []query{{`sum by (method) (rate(riskdex_deliveries_total{@kind}[$__rate_interval])) > 0`, "{{method}}"}},
		},
		{
			id: 303, title: "Deliveries by answer", shape: lines, unit: "reqps", width: 8, stacked: true,
			description: "202, or 200 after a wait for the search, is durable. 4xx is refused, and the sender has to change something. 503 could not be made durable, and the sender has to try again.",
			queries:     []query{{`sum by (code) (rate(riskdex_deliveries_total{@kind}[$__rate_interval])) > 0`, "{{code}}"}},
		},
		{
			id: 314, title: "Since the last delivery", shape: lines, unit: "s", width: 8,
			description: "For how long nothing was accepted, of each kind, and from each sender whose credential has a name. What is usual differs from feed to feed: the alert goes by --expect-every, or by the longest pause of the four weeks before.",
			queries: []query{
				{`time() - max by (kind) (riskdex_last_accepted_timestamp_seconds{@kind} > 0)`, "{{kind}}"},
				{`time() - max by (sender) (riskdex_last_accepted_timestamp_seconds{@, sender!=""} > 0)`, "from {{sender}}"},
			},
			alerts: []string{"RiskdexSilent"},
		},
		{
			id: 306, title: "Changes accepted", shape: lines, unit: "cps", width: 8, stacked: true,
			description: "Documents to be indexed or deleted that were made durable. One delivery may carry many.",
			queries:     []query{{`sum by (kind, op) (max by (job, kind, op) (rate(riskdex_changes_accepted_total{@kind}[$__rate_interval]))) > 0`, "{{kind}} {{op}}"}},
		},
		{
			id: 308, title: "Unknown or unauthenticated requests", shape: lines, unit: "short", width: 6,
			description: "Requests within half an hour for a path or with a method that is not part of the interface: from a publisher with a wrong address, or from somebody else. Also requests that failed authentication.",
			queries:     []query{{`sum by (reason) (increase(riskdex_changes_refused_total{@, kind="none"}[30m])) > 0`, "{{reason}}"}},
			limits:      []limit{{20, warning}},
			alerts:      []string{"RiskdexUnknownCalls"},
		},
		{
			id: 309, title: "Refusals kept", shape: lines, unit: "short", width: 6,
			description: "Refused deliveries and records that can be inspected with `riskdex refused`. They are kept within bounds; the oldest go first.",
			queries:     []query{{`max by (job) (riskdex_refusals_kept{@})`, "kept"}},
			limits:      []limit{{1, notice}},
		},
		{
			id: 310, title: "Accepted, and odd", shape: lines, unit: "short", width: 12,
			description: "Deliveries within half an hour that were accepted though something about them does not fit: a PUT whose record states another id than that of the document in its path, for which it was taken; a DELETE of what is not there.",
			queries: []query{
				{`sum by (kind) (increase(riskdex_id_mismatches_total{@kind}[30m])) > 0`, "{{kind}} other id in the record"},
				{`sum by (kind) (increase(riskdex_deletes_unknown_total{@kind}[30m])) > 0`, "{{kind}} deletes of nothing"},
			},
			limits: []limit{{1, notice}},
		},
		{
			id: 315, title: "Not following", shape: lines, unit: "s", width: 12,
			description: "How long a riskdex that follows another one could not do so. Searches here lack what was delivered there since.",
			queries:     []query{{`max by (instance) (riskdex_follow_failing_seconds{@})`, "{{instance}}"}},
			limits:      []limit{{60, bad}},
			alerts:      []string{"RiskdexNotFollowing"},
		},
		{
			id: 313, title: "Certificate overdue", shape: lines, unit: "s", width: 12,
			description: "For how long the certificate of the listener for deliveries should have been replaced: since a week, or a tenth of its life, before it expires. Negative until then; nothing without TLS.",
			queries:     []query{{`time() - min by (job) (riskdex_certificate_replace_by_timestamp_seconds{@} > 0)`, "{{job}}"}},
			limits:      []limit{{0, bad}},
			alerts:      []string{"RiskdexCertificateExpires"},
		},
		{
			id: 312, title: "Waits for the search", shape: lines, unit: "short", width: 12,
			description: "Deliveries within half an hour whose sender asked, by the header Prefer, to wait until a search shows them: shown in time (searchable) or not, ended by the sender or a stop, or declined because too many wait or it is too large.",
			queries:     []query{{`sum by (result) (increase(riskdex_delivery_waits_total{@}[30m])) > 0`, "{{result}}"}},
		},
	}}
}
