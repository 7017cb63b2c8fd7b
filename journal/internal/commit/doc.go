// Package commit has the rules of a journal, once for both engines: which change is newer, which
// document a code means, which retries are overtaken, and what is counted.
//
// A caller that writes uses a method of [Requests], which puts a [Request] with a [Task] into the [Queue].
// The engine takes a group of requests from the queue, executes their tasks in a [Transaction], commits
// and answers. The Transaction has the rules, which change [Rows] in memory; a [Store] loads and flushes them.
// A method, its task and its rule are in one file:
//
//	append.go       deliveries; with resolve.go and naming.go (for which document), receipts.go, refusals.go,
//	                refusals_clear.go, origin.go (the order of deliveries), validate.go, quota.go
//	settle.go       what became of claimed changes
//	resend.go       what is sent again under its version; reissue.go under a new one; each.go for lists
//	letters_end.go  dead letters that are retried, replaced or dropped
//	tombstones.go   old tombstones; history_drop.go old history
//	loss.go         what the journal lacks; notes.go notes
//
// The way to them and what they share:
//
//	requests.go     what the methods need of the engine; defaults.go the options
//	queue.go        lines of requests, and groups of them; late.go those that come too late
//	transaction.go  executes a group, on rows.go and row.go; ledger.go what is counted
//	store.go        what an engine does for it; state.go states, fault.go errors of the database
//	claim.go        what claims of both engines share; signal.go wakes who waits
//
// And what is read or kept: document.go, history.go, lineage.go, record.go.
package commit
