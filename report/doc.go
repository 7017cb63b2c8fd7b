// Package report defines the terms that all other packages share: the kinds of content, the
// identity of a document, the parts of a delivery, the outcomes of a change, and what a status
// says of indices, rebuilds and verifications. It imports no other package of riskdex. Its
// functions parse and print these terms, and keep no state.
package report
