package dashboards

func searches() row {
	return row{900, "Searches of apps", "searches-of-apps", false, []panel{
		{
			id: 901, title: "Requests of the search API", shape: lines, unit: "reqps", width: 8, stacked: true,
			description: "Requests that riskdex search-api, or serve --search-listen, answered. 429 is a client over its rate, 503 an Elasticsearch that cannot be searched: an app must not take that for no report.",
			queries:     []query{{`sum by (call, code) (rate(riskdex_search_requests_total{@}[$__rate_interval])) > 0`, "{{call}} {{code}}"}},
		},
		{
			id: 902, title: "Time to answer", shape: lines, unit: "s", width: 8, log: true,
			description: "Time in which searches and completions were answered.",
			queries: []query{
				{quantile("0.5", "riskdex_search_request_seconds", "@", "call"), "{{call}}, half within"},
				{quantile("0.99", "riskdex_search_request_seconds", "@", "call"), "{{call}}, 99 % within"},
			},
		},
		{
			id: 903, title: "Searches that find nothing", shape: lines, unit: "percentunit", width: 8,
			description: "The share of searches with words that found nothing. What rises after a change of the feed or of a mapping is lost to those who search.",
			queries:     []query{{`sum(rate(riskdex_search_without_hits_total{@}[$__rate_interval])) / (sum(rate(riskdex_search_requests_total{@, call="search", code="200"}[$__rate_interval])) > 0)`, "nothing"}},
		},
	}}
}
