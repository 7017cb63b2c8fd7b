// Package indexertest has the rig of the tests of package indexer and of those below it: an
// indexer between a real journal and a real Elasticsearch that can be told to fail.
package indexertest
