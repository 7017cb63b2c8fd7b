// Command bench measures how fast riskdex is, side by side with what limits it:
// the same documents sent straight to Elasticsearch, in the same run, on the same
// machine. docs/performance.md says what each measure is, and has the last table.
//
// Everything is real: a riskdex in a process of its own, a real Elasticsearch, and
// a sender in this process, which share the machine. Nothing here is a test: a
// machine may be slow.
package main
