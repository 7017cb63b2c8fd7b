// Package elastic is how riskdex asks Elasticsearch: one client, one way to read an
// answer within bounds, and one form of error.
package elastic
