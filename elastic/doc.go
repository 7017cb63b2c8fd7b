// Package elastic sends requests to Elasticsearch: one client, bounded answers, one form of
// error, and one place that decides what an answer means.
package elastic
