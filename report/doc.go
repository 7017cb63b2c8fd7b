// Package report has the words that every other package speaks: what kinds of
// content there are, how a document is named, what a delivery is made of and
// what becomes of it. It imports nothing of ours and does nothing by itself.
package report
