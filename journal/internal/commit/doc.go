// Package commit has the rules of a journal, once for both engines: which change is newer, which
// document a code means, which retries are overtaken, and what is counted.
//
// A caller that writes uses a method of [Requests], which puts a [Request] with a [Task] into the [Queue].
// The engine takes a group of requests from the queue, executes their tasks in a [Transaction], commits
// and answers. The Transaction has the rules, which change [Rows] in memory; a [Store] loads and flushes them.
//
// The package also has what else both engines need: [Budget], [Deferral] and [IdleCache] for
// claims, [Fault] for errors of the database, [Quota] for limits, [Loss] for lost changes.
package commit
