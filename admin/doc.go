// Package admin is what operators and their machines see of a running riskdex:
// metrics, whether it lives and whether it can accept, and a JSON API to look
// after what failed. It has a listener of its own, so that it is not open to the
// publisher's network.
//
//	admin.go           what is served
//	health.go          probes
//	journal.go         the metrics that the journal keeps
//	api.go, problem.go what all calls of the API have in common
//	guard.go           which requests may change nothing
//	dead.go            dead letters; letter.go has what it needs and answers
//	refused.go         refused deliveries; refusal.go likewise
//	rebuild.go         new indices
//	verify.go          comparing an index with the journal
//	status.go          how all of it is: gather.go asks, trouble.go judges, history.go and
//	                   deliveries.go remember
//	page.go            the same for a browser: forms.go has its buttons, found.go its search
//	                   (index.go has what it needs), sparkline.go the line of an hour,
//	                   runbook.go the runbook, visible.go what may be shown, page/ the HTML
//	pprof.go           profiles of the process
package admin
