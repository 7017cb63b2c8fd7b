// Package probe measures how long it takes until a search shows a change, by a document of
// its own that goes the whole way of a delivery.
package probe
