// Package elastic is how riskdex asks Elasticsearch: one client, one way to read an
// answer within bounds, one form of error, and one place that decides what an answer means.
package elastic
