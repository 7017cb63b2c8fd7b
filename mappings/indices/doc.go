// Package indices maintains riskdex's indices in a cluster: their aliases and templates,
// whose they are, and their life from the first one through rebuilds. It changes nothing
// else. Everything that riskdex has to know about an index is recorded on the index itself.
package indices
