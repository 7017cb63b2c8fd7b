// Command bench measures how fast riskdex is, in comparison with what limits it: the same
// documents sent straight to Elasticsearch, in the same run, on the same machine.
// docs/performance.md explains each measure, and has the latest table.
//
// Everything is real: a riskdex in a process of its own, an Elasticsearch, and a sender in
// this process, which share the machine. None of this is a test, because a machine may be
// slow.
package main
