// Package admin is what operators and their machines see of a running riskdex:
// metrics, whether it lives and whether it can accept. It has a listener of its
// own, so that it is not open to the publisher's network.
package admin
