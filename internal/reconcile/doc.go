// Package reconcile compares what a publisher has of a kind with what riskdex has.
//
//	list.go     what the publisher has: names and digests, and no records
//	pages.go    tells whether it is only a page of one
//	read.go     reads a list from a file of any of the forms
//	feed.go     reads one from the feed of changes
//	folder.go   makes one of a folder of deliveries
//	compare.go  compares it with documents, which come one by one
//
// The ids and codes of a list lead to documents by the rules of a delivery. Where these rules
// leave a doubt, a document is never surplus.
package reconcile
