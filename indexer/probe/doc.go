// Package probe measures how long it takes until a search shows a change. It delivers a
// document of its own, the probe, and searches for it.
package probe
