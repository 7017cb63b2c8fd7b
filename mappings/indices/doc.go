// Package indices looks after the indices of a cluster: their aliases and templates, whose
// they are, and their life from the first one through rebuilds. It changes nothing else,
// and whatever an index is to riskdex stands on the index itself.
package indices
