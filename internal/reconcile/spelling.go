package reconcile

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"riskdex/report"
)

// Respelled returns a missing and a surplus document whose ids differ only in how they are
// written, or false. A spreadsheet drops leading zeros, a file system decomposes accents, CSV quotes
// what has a comma: the list may well have the surplus one. It is called after End.
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

// unspelled returns what is the same for all spellings of an id: with accents decomposed or not,
// in upper or lower case, percent-encoded, with leading zeros, as a decimal number, and with
// spaces, quotes, commas, or signs that nobody sees.
func unspelled(id report.ID) string {
	text, err := url.PathUnescape(string(id))
	if err != nil {
		text = string(id)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf) || strings.ContainsRune(`"',`, r) {
			return -1
		}
		return r
	}, strings.ToLower(norm.NFKC.String(text)))
	return strings.TrimLeft(strings.TrimSuffix(text, ".0"), "0")
}
