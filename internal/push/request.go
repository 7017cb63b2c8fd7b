// Package push sends a publisher's deliveries to a receiver: from a list, or
// from a folder of JSON files, in order, for as long as it takes.
package push

import (
	"net/url"

	"riskdex/report"
)

// Request is one delivery to be sent.
type Request struct {
	Method string // POST, PUT or DELETE
	Path   string // below the receiver's URL, percent-encoded: /cities or /cities/LON
	Body   []byte // JSON; nil with DELETE
	What   string // what this delivery is, for people

	// IfVersion, if not 0, has a DELETE remove the document only while that is its newest version.
	IfVersion report.Version
}

// Path returns the path of a document below the receiver's URL.
func Path(kind report.Kind, id report.ID) string {
	return "/" + string(kind) + "/" + url.PathEscape(string(id))
}
