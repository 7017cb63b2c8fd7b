// Package commit has the rules of a journal, once for every engine: which change is newer,
// what a city is called, what a refusal is overtaken by, what is counted.
//
// Whoever writes calls a method of [Requests], which puts a [Request] into the [Queue]. The
// engine takes groups of requests from the queue and carries out each in a [Transaction],
// which has the rules and sees the database as a [Store]. The engine commits, and answers.
//
// What else both engines need stands here as well: [Budget], [Deferral] and [IdleCache] for
// claiming, [Fault] for errors of the database, [Quota] for limits, [Loss] for what is missing.
package commit
