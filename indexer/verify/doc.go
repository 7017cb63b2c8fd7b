// Package verify compares an index with the journal, in both directions and while both go
// on changing, and has what differs mended by way of the journal, never in the index.
package verify
