package reconcile

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"riskdex/report"
)

// Respelled returns a missing and a surplus document whose ids differ only in how they are
// written, or false. A spreadsheet drops leading zeros, and a file system decomposes accents: the
// list may well have the surplus one. It is called after End.
func (c *Comparison) Respelled() (missing, surplus report.ID, ok bool) {
	listed := make(map[string]report.ID)
	for _, f := range c.With(Missing) {
		listed[unspelled(f.ID)] = f.ID
	}
	for _, f := range c.With(Surplus) {
		if id, ok := listed[unspelled(f.ID)]; ok {
			return id, f.ID, true
		}
	}
	return "", "", false
}

// unspelled returns what is the same for all spellings of an id: with accents decomposed or
// not, in upper or lower case, with zeros or spaces around it.
func unspelled(id report.ID) string {
	return strings.TrimLeft(strings.TrimSpace(strings.ToLower(norm.NFKC.String(string(id)))), "0")
}
