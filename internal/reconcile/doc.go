// Package reconcile compares the documents that a publisher has of a kind with those that
// riskdex has.
//
//	list.go      what the publisher has: names and digests, and no records
//	pages.go     is it only a page of one?
//	read.go      reads a list from a file of any of the forms
//	feed.go      reads one from the feed of changes
//	folder.go    makes one of a folder of deliveries
//	compare.go   compares it with documents, which come one by one
//	spelling.go  tells ids apart from other spellings of the same
//
// The ids and codes of a list are resolved to documents by the rules for deliveries. If these
// rules leave a doubt, the document does not count as surplus.
package reconcile
