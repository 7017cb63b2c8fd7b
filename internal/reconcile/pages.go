package reconcile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"riskdex/receiver/jsonscan"
)

// pages is what the envelopes of a list say of its length. A publisher's API may answer with a
// page of the list.
type pages struct {
	here  int    // envelopes that say something of it
	more  string // the member by which the last one says that more follows
	total int64  // documents of all pages, by the member totalIn; 0 if nothing says so
	of    int64  // pages, by the member ofIn

	totalIn, ofIn string
}

// deepest bounds how deep in an envelope pagesIn looks.
const deepest = 4

// pagesIn returns what an envelope says beside its records.
func pagesIn(envelope []byte) (p pages) {
	p.look(envelope, deepest)
	if p != (pages{}) {
		p.here = 1
	}
	return p
}

func (p *pages) look(object []byte, deep int) {
	if deep == 0 || jsonscan.FirstByte(object) != '{' {
		return
	}
	for _, m := range jsonscan.Members(object) {
		value := strings.Trim(string(m.Value[:min(len(m.Value), 30)]), " \t\r\n\"")
		switch name := letters(m.Name); name {
		case "next", "nextpage", "nextpagetoken", "nextcursor", "nexttoken", "nextlink", "nexturl", "nextpageurl", "odatanextlink",
			"hasmore", "hasnext", "hasnextpage", "more", "truncated", "istruncated", "partial":
			if value != "" && value != "null" && value != "false" && value != "0" && value != "{}" {
				p.more = m.Name
			}
		case "last", "islast", "islastpage":
			if value == "false" {
				p.more = m.Name
			}
		case "total", "totalcount", "totalresults", "totalrecords", "totalitems", "totalelements", "totalhits", "numfound", "count", "recordcount", "resultcount":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > p.total {
				p.total, p.totalIn = n, m.Name
			}
		case "totalpages", "pages", "pagecount", "numpages", "lastpage":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > p.of {
				p.of, p.ofIn = n, m.Name
			}
		case "meta", "metadata", "links", "paging", "pagination", "page", "pageinfo", "data", "response", "result", "info", "cursor", "cursors":
			p.look(m.Value, deep-1)
		}
	}
}

// letters returns the letters of a name, in lower case.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// add adds what the next envelope says.
func (p *pages) add(next pages) {
	p.here, p.more = p.here+next.here, next.more
	if next.total > p.total {
		p.total, p.totalIn = next.total, next.totalIn
	}
	if next.of > p.of {
		p.of, p.ofIn = next.of, next.ofIn
	}
}

// missing returns what tells that a list with so many entries lacks pages, or nothing.
func (p *pages) missing(entries int) string {
	switch {
	case p.more != "":
		return fmt.Sprintf("its last envelope says by %q that more follows. Give all pages, one after the other", p.more)
	case p.total > int64(entries):
		return fmt.Sprintf("it says %q: %d, and has %d. Give all pages, one after the other", p.totalIn, p.total, entries)
	case p.of > int64(p.here):
		return fmt.Sprintf("it says %q: %d, and has %d. Give all pages, one after the other", p.ofIn, p.of, p.here)
	}
	return ""
}
