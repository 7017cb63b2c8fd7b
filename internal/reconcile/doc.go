// Package reconcile compares the documents that a publisher has of a kind with those that
// riskdex has.
//
//	list.go      what the publisher has: names and digests, and no records
//	read.go      reads a list from a file of any of the forms
//	feed.go      reads one from the feed of changes
//	folder.go    makes one of a folder of deliveries
//	compare.go   compares it with documents, which come one by one
//	doubt.go     is it certain that what the list lacks may be removed?
//
// The ids and codes of a list are resolved to documents by the rules for deliveries.
package reconcile
