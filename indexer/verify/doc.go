// Package verify compares an index with the journal in both directions, while both keep
// changing. It repairs differences through the journal, never in the index itself.
package verify
