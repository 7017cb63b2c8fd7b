// Package indexertest has the rig for the tests of package indexer and of those below it:
// an indexer between a real journal and a real Elasticsearch that can be made to fail.
package indexertest
