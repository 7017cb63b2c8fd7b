// Package admin is what operators and their machines see of a running riskdex: metrics,
// liveness and readiness, a status page, and a JSON API to look after what failed. It has a
// listener of its own, so that it is not open to the publisher's network.
//
//	admin.go           what is served
//	health.go          liveness and readiness
//	journal.go         the metrics that the journal keeps
//	api.go, problem.go what all calls of the API have in common
//	guard.go           requests of other web pages, which are rejected
//	dead.go            dead letters; letter.go has the interface that it needs, and its answers
//	refused.go         refused deliveries; refusal.go likewise
//	rebuild.go         rebuilds of indices
//	verify.go          comparing an index with the journal
//	document.go        one document: judge.go says its state, past.go has its history
//	reading.go         how records of a kind are read
//	delivery.go        what became of a delivery
//	status.go          the status: gather.go collects it, trouble.go judges it, history.go and
//	                   deliveries.go remember the past, arrivals.go the last delivery of each kind
//	page.go            the same for a browser: forms.go has its buttons, searchpage.go its
//	                   search (index.go has what it needs), sparkline.go the charts of an hour and
//	                   of four weeks, map.go the maps, runbook.go the runbook, page/ the HTML
//	pprof.go           profiles of the process
//	backup.go, loss.go copies of the journal; acknowledging a loss
//	export.go          the newest records, as lines; reads.go has the metrics of what is read
//	feed.go            the changes, in order
//	readlimit.go       how many calls read records at the same time
//	token.go           who may call
//	query.go           queries are understood as a whole or not at all
//	content.go         bodies in answers
package admin
