package receiver

import (
	"bytes"
	"slices"
	"strings"

	"riskdex/internal/vocabulary"
	"riskdex/receiver/jsonscan"
)

// newState returns what an object was changed to, beside what it was before: null where it was
// deleted. What else is beside the two is of the change and not of the record.
func newState(object []jsonscan.Member) (m jsonscan.Member, ok bool) {
	was := false
	for _, other := range object {
		if c := jsonscan.FirstByte(other.Value); c != '{' && c != 'n' {
			continue
		}
		switch strings.ToLower(other.Name) {
		case "before", "old", "previous":
			was = true
		case "after", "new", "current":
			m, ok = other, true
		}
	}
	return m, ok && was
}

func isState(name string) bool {
	return slices.Contains([]string{"before", "old", "previous", "after", "new", "current"}, strings.ToLower(name))
}

// isMessage reports whether an object with an id is a message about a record, such as
// `{"id": "m1", "event": "city.updated", "data": {…}}`: it names the record's kind and a change.
func (o opener) isMessage(object []jsonscan.Member) bool {
	return slices.ContainsFunc(object, func(m jsonscan.Member) bool {
		if len(m.Value) > maxAside || jsonscan.FirstByte(m.Value) != '"' {
			return false // a record has long texts, which are not the names of changes
		}
		text, ok := quotedText(m.Value)
		return ok && o.words.isOfEvent(o.words.vocabulary.Read(m.Name)) && o.words.tellsChange(text)
	}) && slices.ContainsFunc(object, func(m jsonscan.Member) bool {
		return jsonscan.FirstByte(m.Value) == '{' && o.words.meansRecords(m.Name) && (o.put || o.statesIDs(m.Value, 1))
	})
}

// tellsEvent reports whether an object is a message by what stands beside the member that it carries: the
// name of an event; or by that member, which has what was before, and is now.
func (o opener) tellsEvent(object []jsonscan.Member, carried jsonscan.Member) bool {
	if _, ok := newState(jsonscan.Members(carried.Value)); ok {
		return true
	}
	return slices.ContainsFunc(object, func(m jsonscan.Member) bool {
		text, ok := quotedText(m.Value)
		return ok && o.words.vocabulary.Read(m.Name).Concepts&o.words.event != 0 && len(vocabulary.Words(text)) > 1 && isMachineText(text)
	})
}

// isOfMessage reports whether a member beside what a message carries is of the message, and not of the
// report: its name means nothing that reports have, and it is short.
func (o opener) isOfMessage(m jsonscan.Member) bool {
	n := o.words.vocabulary.Read(m.Name)
	if isNothing(m.Value) || isMeta(m.Name) {
		return true
	}
	means := n.Concepts &^ (o.words.meta | o.words.event | o.words.id | o.words.number)
	if means != 0 && !(means == o.words.name && n.Concepts&o.words.event != 0) {
		return false
	}
	switch jsonscan.FirstByte(m.Value) {
	case '[':
		return false
	case '{':
		return !slices.ContainsFunc(jsonscan.Members(m.Value), func(in jsonscan.Member) bool {
			c := jsonscan.FirstByte(in.Value)
			return c == '{' || c == '[' || len(in.Value) > maxAside
		})
	}
	return len(m.Value) <= maxAside
}

// firstBeside returns the name of the first member that is not something a sender says of a
// delivery; empty if all are. Beside many records, a number or a short text under an unknown name is, and the number of a page.
func (o opener) firstBeside(object []jsonscan.Member, many bool) string {
	return o.firstWithin(object, many, maxEnvelopes)
}

func (o opener) firstWithin(object []jsonscan.Member, many bool, depth int) string {
	for _, m := range object {
		if !o.isAside(m, many, depth) {
			return m.Name
		}
	}
	return ""
}

func (o opener) isAside(m jsonscan.Member, many bool, depth int) bool {
	if isNothing(m.Value) || isMeta(m.Name) {
		return true
	}
	c := jsonscan.FirstByte(m.Value)
	n := o.words.vocabulary.Read(m.Name)
	switch {
	case c == '{' || c == '[':
		if o.words.isMeta(m.Name, c) {
			return !o.isMore(m) && !o.isTimed(m)
		}
		return c == '{' && depth > 0 && !(o.put && n.Within) && o.firstWithin(jsonscan.Members(m.Value), many, depth-1) == ""
	case c != '"': // beside many records, an unknown number counts them or their pages
		return o.words.isMeta(m.Name, c) || o.words.isOfEvent(n) || many && (n.Unknown || n.Concepts == o.words.number)
	}
	text, _ := quotedText(m.Value)
	switch {
	case n.Unknown && n.Last == 0:
		return (!o.put || n.Concepts&^o.words.meta == 0) && (isMachineText(text) || many && len(text) <= maxAside)
	case o.put && n.Concepts&(o.words.foreign|o.words.id|o.words.number) != 0:
		return o.words.isOfEvent(n) && (isMachineText(text) || strings.EqualFold(m.Name, "status"))
	}
	return o.words.isMeta(m.Name, c) || o.words.isOfEvent(n)
}

// maxAside bounds a text that a sender says of a delivery.
const maxAside = 100

// isMachineText reports whether a text is written by a machine for one, as times, links, versions
// and hashes are.
func isMachineText(text string) bool {
	return len(text) <= maxAside && strings.ContainsAny(strings.TrimRight(text, "."), "0123456789_:/=.") && !strings.ContainsAny(text, " \n")
}

// isMeta reports whether a name says by itself that it is not content.
func isMeta(name string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimLeft(name, "_@$")), "meta") || name == "jsonapi"
}

// moreBeside returns the name of what stands beside a list of records and could be more of
// them, or of their ids; empty if nothing does.
func (o opener) moreBeside(object []jsonscan.Member) string {
	geoJSON := isGeoJSONList(object)
	for _, m := range object {
		c := jsonscan.FirstByte(m.Value)
		switch {
		case c != '{' && c != '[', isMeta(m.Name), isNothing(m.Value):
		case o.isMore(m), o.isTimed(m):
			return m.Name
		case o.words.isMeta(m.Name, c), geoJSON:
		case c == '[', o.holdsList(m.Value):
			return m.Name
		case o.words.meansRecords(m.Name) && (o.words.isOfKind(m.Name) || o.statesID(recordOf(m.Value))):
			return m.Name
		}
	}
	return ""
}

// unboxed returns members with values in place of lists of one, if records have most of theirs in such lists.
func unboxed(records []byte, beside []jsonscan.Member) []jsonscan.Member {
	boxes, members := 0, jsonscan.Members(jsonscan.Element(records, 0))
	for _, m := range members {
		if jsonscan.Only(m.Value) != nil {
			boxes++
		}
	}
	if 2*boxes <= len(members) {
		return beside
	}
	beside = slices.Clone(beside)
	for i, m := range beside {
		only := jsonscan.Only(m.Value)
		if _, ok := scalarText(only); ok {
			beside[i].Value = only
		}
	}
	return beside
}

// isTimed reports whether a member is a list of objects to which something was done: updated ones.
func (o opener) isTimed(m jsonscan.Member) bool {
	return jsonscan.FirstByte(m.Value) == '[' && o.words.isOfTime(m.Name) && holdsObjects(m.Value)
}

// isLegend reports whether a list beside many records explains what is in them: its objects are few, have
// little, are unlike records, and half of them or more have a value that records have, too.
func (o opener) isLegend(records []byte, m jsonscan.Member) bool {
	if jsonscan.FirstByte(m.Value) != '[' || !holdsObjects(m.Value) || len(m.Value) > maxTable || isRich(m.Value) ||
		o.isLike(records, m.Value) || o.isMore(m) || o.words.meansRecords(m.Name) || o.isTimed(m) {
		return false
	}
	all, explaining := 0, 0
	for element := range jsonscan.Elements(m.Value) {
		members := jsonscan.Members(element)
		if slices.ContainsFunc(members, func(in jsonscan.Member) bool { return len(in.Value) > maxAside }) {
			return false
		}
		all++
		if slices.ContainsFunc(members, func(in jsonscan.Member) bool {
			_, ok := scalarText(in.Value)
			return ok && bytes.Contains(records, in.Value)
		}) {
			explaining++
		}
	}
	return 2*explaining >= all
}

// isReport reports whether what is beside a list makes its object a report with parts, and no list
// of reports: it says what reports say. Beside many, what each of them says too may be of them all.
func (o opener) isReport(beside []jsonscan.Member, list []byte, many bool) bool {
	one := jsonscan.Members(jsonscan.Element(list, 0))
	return slices.ContainsFunc(beside, func(m jsonscan.Member) bool {
		n := o.words.vocabulary.Read(m.Name)
		content := n.Concepts &^ (o.words.id | o.words.number | o.words.own)
		if many && len(m.Value) <= maxAside {
			content &= o.words.shown // a result's code and message are those of the delivery
		} else if jsonscan.FirstByte(m.Value) != '"' {
			content &^= o.words.page // the number of the first record
		}
		switch c := jsonscan.FirstByte(m.Value); {
		case o.isAside(m, many, maxEnvelopes), many && c == '{', content == 0 && c != '{':
			return false
		}
		return !many || !slices.ContainsFunc(one, func(own jsonscan.Member) bool {
			return o.words.vocabulary.Read(own.Name).Concepts&content == content
		})
	})
}

// saysMore reports whether what is beside the record of a PUT has a date or a language that the
// record lacks.
func (o opener) saysMore(beside []jsonscan.Member, raw []byte) bool {
	var inside vocabulary.Concepts
	for _, m := range jsonscan.Members(raw) {
		inside |= o.words.vocabulary.Read(m.Name).Concepts
		for _, part := range jsonscan.Members(m.Value) {
			inside |= o.words.vocabulary.Read(part.Name).Concepts
		}
	}
	return slices.ContainsFunc(beside, func(m jsonscan.Member) bool {
		return !isNothing(m.Value) && o.words.vocabulary.Read(m.Name).Concepts&o.words.kept&^inside != 0
	})
}

// meansRecords reports whether a name means records of this kind, or says only that something is
// there: cities, ReportList, data.
func (g *guesser) meansRecords(name string) bool {
	n := g.vocabulary.Read(name)
	return !n.Unknown && !n.Within && n.Concepts&^g.own == 0
}

// isOfKind reports whether a name means this kind of record.
func (g *guesser) isOfKind(name string) bool { return g.vocabulary.Read(name).Concepts&g.own != 0 }

// mayWrap reports whether records may be under a name: one that means them, or one with no
// words that mean anything else.
func (g *guesser) mayWrap(name string) bool {
	n := g.vocabulary.Read(name)
	return !n.Within && n.Concepts&^(g.own|g.about) == 0
}

// isOfEvent reports whether a name is that of a message, or of what happened to a record.
func (g *guesser) isOfEvent(n vocabulary.Name) bool {
	return !n.Unknown && (n.Concepts&g.foreign != 0 && n.Concepts&^(g.meta|g.event|g.id|g.number) == 0 ||
		n.Concepts&g.event != 0 && n.Concepts&^(g.event|g.meta|g.name) == 0)
}

// tellsChange reports whether a text tells what was done to a record of this kind: city.updated.
func (g *guesser) tellsChange(text string) bool {
	n := g.vocabulary.Read(text)
	return !n.Unknown && n.Concepts&g.own != 0 && n.Concepts&g.time != 0 && n.Concepts&^(g.own|g.time) == 0
}
