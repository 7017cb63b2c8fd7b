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
	ends  bool   // the last one says that nothing follows
	total int64  // documents of all pages, by the member totalIn; 0 if nothing says so
	of    int64  // pages, by the member ofIn
	most  int64  // documents of a page, by the member mostIn
	full  bool   // the last one has as many, and does not say whether more follows

	totalIn, ofIn, mostIn string
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
			} else {
				p.ends = true
			}
		case "last", "islast", "islastpage":
			if value == "false" {
				p.more = m.Name
			} else if value == "true" {
				p.ends = true
			}
		case "total", "totalcount", "totalresults", "totalrecords", "totalitems", "totalelements", "totalhits", "numfound", "count", "recordcount", "resultcount", "odatacount":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > p.total {
				p.total, p.totalIn = n, m.Name
			}
		case "totalpages", "pages", "pagecount", "numpages", "lastpage":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > p.of {
				p.of, p.ofIn = n, m.Name
			}
		case "limit", "pagelimit", "perpage", "pagesize", "itemsperpage", "resultsperpage", "maxresults":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > p.most {
				p.most, p.mostIn = n, m.Name
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

// add adds what the next envelope says, which has so many records. One that says nothing ends the
// list: many APIs leave out of the last page what says that more follows.
func (p *pages) add(next pages, records int) {
	p.here, p.more = p.here+next.here, next.more
	p.most, p.mostIn = next.most, next.mostIn
	p.full = next.most > 0 && int64(records) >= next.most && !next.ends && next.total == 0 && next.of == 0
	if next.total > p.total {
		p.total, p.totalIn = next.total, next.totalIn
	}
	if next.of > p.of {
		p.of, p.ofIn = next.of, next.ofIn
	}
}

// goesOn reports whether more may follow the last envelope.
func (p *pages) goesOn() bool { return p.more != "" || p.full }

// missing returns what tells that a list with so many entries lacks pages, or nothing.
func (p *pages) missing(entries int) string {
	switch {
	case p.more != "":
		return fmt.Sprintf("its last envelope says by %q that more follows. Give all pages, one after the other", p.more)
	case p.total > int64(entries):
		return fmt.Sprintf("it says %q: %d, and has %d. Give all pages, one after the other", p.totalIn, p.total, entries)
	case p.of > int64(p.here):
		return fmt.Sprintf("it says %q: %d, and has %d. Give all pages, one after the other", p.ofIn, p.of, p.here)
	case p.full:
		return fmt.Sprintf("its last envelope says %q: %d, and has as many, so more may follow. Give all pages, one after the other; or if these are all, the records without the envelope", p.mostIn, p.most)
	}
	return ""
}
