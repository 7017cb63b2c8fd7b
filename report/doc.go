// Package report defines the terms that all other packages share: the kinds of content, the
// identity of a document, the parts of a delivery, the outcomes of a change, and what a status
// says of indices, rebuilds and verifications. It imports no other package of riskdex and has no
// behavior of its own.
package report
