package dashboards

const gib = 1 << 30

func process() row {
	return row{800, "The process", "the-process", false, []panel{
		{
			id: 801, title: "Running for", shape: lines, unit: "s", width: 8,
			description: "How long each instance has been running. A line that falls to 0 is a restart.",
			queries:     []query{{`time() - max by (instance) (process_start_time_seconds{@})`, "{{instance}}"}},
			limits:      []limit{{0, notice}, {300, good}},
		},
		{
			id: 802, title: "Starts within half an hour", shape: lines, unit: "short", width: 8,
			description: "How often an instance was restarted. More than twice is a process that does not stay up.",
			queries:     []query{{`max by (instance) (changes(process_start_time_seconds{@}[30m]))`, "{{instance}}"}},
			limits:      []limit{{1, notice}, {2, warning}},
			alerts:      []string{"RiskdexRestarting"},
		},
		{
			id: 803, title: "Processor", shape: lines, unit: "percentunit", width: 8,
			description: "Processor time used; 100 % is one core.",
			queries:     []query{{`sum by (instance) (rate(process_cpu_seconds_total{@}[$__rate_interval]))`, "{{instance}}"}},
			limits:      []limit{{4, notice}},
		},
		{
			id: 804, title: "Memory", shape: lines, unit: "bytes", width: 8,
			description: "Memory of the process, and what of it is the heap in use. It does not grow with the backlog: that waits on disk.",
			queries: []query{
				{`max by (instance) (process_resident_memory_bytes{@})`, "{{instance}} resident"},
				{`max by (instance) (go_memstats_heap_inuse_bytes{@})`, "{{instance}} heap"},
			},
			limits: []limit{{gib, notice}},
		},
		{
			id: 805, title: "Open files", shape: lines, unit: "short", width: 8,
			description: "Open files and connections, and how many the process may have.",
			queries: []query{
				{`max by (instance) (process_open_fds{@})`, "{{instance}} open"},
				{`max by (instance) (process_max_fds{@})`, "{{instance}} limit"},
			},
			log: true,
		},
		{
			id: 806, title: "Goroutines", shape: lines, unit: "short", width: 8,
			description: "Goroutines that exist. A line that only rises is a leak.",
			queries:     []query{{`max by (instance) (go_goroutines{@})`, "{{instance}}"}},
			limits:      []limit{{10_000, notice}},
		},
		{
			// The text format writes the quantile as 1, OpenMetrics and protobuf as 1.0.
			id: 807, title: "Longest pause for garbage collection", shape: lines, unit: "s", width: 8,
			description: "The longest of the last pauses.",
			queries:     []query{{`max by (instance) (go_gc_duration_seconds{@, quantile=~"1|1[.]0"})`, "{{instance}}"}},
			limits:      []limit{{0.1, notice}},
		},
		{
			id: 808, title: "Memory allocated", shape: lines, unit: "Bps", width: 8,
			description: "Memory allocated per second: how much work there is for garbage collection.",
			queries:     []query{{`sum by (instance) (rate(go_memstats_alloc_bytes_total{@}[$__rate_interval]))`, "{{instance}}"}},
			limits:      []limit{{gib, notice}},
		},
		{
			id: 809, title: "Time for a scrape", shape: lines, unit: "s", width: 8,
			description: "How long Prometheus takes to read the metrics. They come from the journal, so a slow disk shows here too.",
			queries:     []query{{`max by (instance) (scrape_duration_seconds{@})`, "{{instance}}"}},
			limits:      []limit{{5, warning}},
		},
		{
			id: 811, title: "Processes on the journal", shape: lines, unit: "short", width: 8,
			description: "How many processes work on the journal, and how many of those that Prometheus watches can read it. The two are the same, but for the seconds after a start or an end.",
			queries: []query{
				{`max by (job) (riskdex_processes{@})`, "{{job}} at work"},
				{`count by (job) (riskdex_processes{@})`, "{{job}} watched"},
			},
			limits: []limit{{0, good}},
			alerts: []string{"RiskdexDown"},
		},
		{
			id: 812, title: "Clock", shape: lines, unit: "s", width: 8,
			description: "How far the clock of each instance is ahead of that of Prometheus, or behind it if negative, including the time of a scrape. Then how far it is behind the time at which a waiting change arrived.",
			queries: []query{
				{`max by (instance) (riskdex_clock_timestamp_seconds{@} - timestamp(riskdex_clock_timestamp_seconds{@}))`, "{{instance}}"},
				{`max by (job) (riskdex_clock_behind_seconds{@})`, "{{job}} behind what waits"},
				{`60 * max by (instance) (riskdex_clock_differs{@}) != 0`, "{{instance}} to Elasticsearch, at least"},
			},
			limits: []limit{{-60, good}, {60, warning}},
			alerts: []string{"RiskdexClockOff"},
		},
		{
			id: 813, title: "Log", shape: lines, unit: "short", width: 8,
			description: "For how many seconds an instance's log has not been taken as it comes, and how many lines a second are dropped because of that. Both are 0 while something reads the log.",
			queries: []query{
				{`max by (instance) (riskdex_log_unread_seconds{@})`, "{{instance}} unread for"},
				{`sum by (instance) (rate(riskdex_log_lines_dropped_total{@}[$__rate_interval]))`, "{{instance}} dropped"},
			},
			limits: []limit{{0, good}, {10, warning}},
			alerts: []string{"RiskdexLogUnread"},
		},
		{
			id: 810, title: "What runs", shape: lines, unit: "short", width: 16,
			description: "The version of each instance, and the commit that it was built from, to compare with a change of behaviour.",
			queries:     []query{{`max by (instance, version, revision, goversion) (riskdex_build_info{@})`, "{{instance}} {{version}} {{revision}} {{goversion}}"}},
			limits:      []limit{{0, good}},
		},
	}}
}
