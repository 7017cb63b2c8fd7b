package reconcile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"golang.org/x/text/unicode/norm"

	"riskdex/internal/sanitize"
	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// doubt notes why a list is not a ground for a removal by itself. The first reason counts.
func (l *List) doubt(text string) {
	if l.Doubt == "" {
		l.Doubt = text
	}
}

// Doubts returns why nothing may be removed, one sentence each; none if the list has ids of
// documents that are here, and nothing else. delivered says that riskdex took all that is in the
// list from there, so that a code in it is of the city that riskdex gave it to. It is called after
// End and Explain.
//
// What is here must be exactly what the list has, but for what is to be removed. So nobody has to
// know what a list looks like that is not whole, or how else an id may be written.
func (c *Comparison) Doubts(delivered bool) (all []string) {
	say := func(found []Finding, text string, values ...any) {
		if len(found) > 0 {
			all = append(all, fmt.Sprintf(text, append(values, word(string(found[0].ID)))...)+more(len(found)-1))
		}
	}
	if l := c.list; l.Unread > 0 {
		all = append(all, "the list has an entry without an id that can be read: "+sanitize.OneLine(l.Why)+more(l.Unread-1))
	}
	if c.list.Doubt != "" {
		all = append(all, c.list.Doubt)
	}
	say(c.With(Missing),
		"the list has %s, which is not here: deliver it first, as push --replace does, or take it out if it is not an id")
	say(c.With(Ambiguous), "the list has %s, a code of several cities here: give their ids")
	if !delivered {
		say(c.coded, "the list has the code of city %s: a code may pass from one city to another, so give ids")
	}
	differ := slices.Clone(c.With(Differs))
	say(slices.DeleteFunc(differ, func(f Finding) bool { return f.Lost != report.NotLost }),
		"the list has another record of %s than riskdex, so one of them is old: deliver it first, as push --replace does,"+
			" or compare ids alone, by --ids-only")
	listed, alike := c.alike()
	say(alike, "the list has %s, which may be another spelling of %s: if that has to go, send a DELETE for it alone",
		word(listed))
	return all
}

func word(id string) string { return sanitize.ShellWord(id) }

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %s more like it)", humanize.Comma(int64(n)))
}

// alike returns the surplus documents of which the list may have the id or code in another
// spelling, and the first such name in the list.
func (c *Comparison) alike() (listed string, surplus []Finding) {
	spelled := map[string]Finding{}
	for _, f := range c.With(Surplus) {
		spelled[spelling(string(f.ID))] = f
		if f.Code != "" {
			spelled[spelling(f.Code)] = f
		}
	}
	for _, e := range c.list.entries {
		if f, is := spelled[spelling(e.name)]; is && (e.found || e.coded) {
			listed = cmp.Or(listed, e.name)
			surplus = append(surplus, f)
		}
	}
	return listed, surplus
}

// spelling returns the words and numbers of an id, which are the same however it is written: in
// upper or lower case, wide or narrow, with or without marks, leading zeros and whatever is between.
func spelling(id string) string {
	text := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.M, unicode.Cf) {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(strings.ToUpper(id))))
	var words []string
	for text != "" {
		is := unicode.IsLetter
		if first, _ := utf8.DecodeRuneInString(text); unicode.IsNumber(first) {
			is = unicode.IsNumber
		}
		end := strings.IndexFunc(text, func(r rune) bool { return !is(r) })
		if end < 0 {
			end = len(text)
		}
		if word := strings.TrimLeft(text[:end], "0"); word != "" {
			words = append(words, word)
		}
		text = strings.TrimLeftFunc(text[end:], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	}
	return cmp.Or(strings.Join(words, " "), id)
}

// onlyRecords reports whether a body is records and nothing else: one, an array of them, or an
// object around that which says nothing else. bytes is the length of all its records.
func onlyRecords(body []byte, records int) bool {
	body = bytes.TrimSpace(body)
	if len(body) == records {
		return true
	}
	if members := jsonscan.Members(body); len(members) == 1 {
		return onlyRecords(members[0].Value, records)
	}
	elements := 0
	for e := range jsonscan.Elements(body) {
		elements += len(e)
	}
	return elements == records
}

// longestArray returns the expression of jq for the longest array in an object, or nothing.
func longestArray(object []byte, deep int) (path string, length int) {
	for _, m := range jsonscan.Members(object) {
		switch n := len(m.Value); jsonscan.FirstByte(m.Value) {
		case '[':
			if n > length {
				path, length = fmt.Sprintf(".%q", m.Name), n
			}
		case '{':
			if inner, n := longestArray(m.Value, deep-1); deep > 0 && n > length {
				path, length = fmt.Sprintf(".%q", m.Name)+inner, n
			}
		}
	}
	return path, length
}

// unwrap says how the records, or ids, are taken out of an envelope.
func unwrap(envelope []byte) string {
	path, _ := longestArray(envelope, deepest)
	return "give what is in it alone, of all pages, as jq -s " + sanitize.ShellWord("map("+path+"[])") + " PAGES writes it"
}

// deepest bounds how deep in an envelope longestArray looks.
const deepest = 4
