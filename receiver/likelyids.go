package receiver

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"riskdex/internal/vocabulary"
	"riskdex/receiver/jsonscan"
	"riskdex/report"

	"github.com/go-json-experiment/json/jsontext"
)

// guesser finds members that look like the id of a record by the words of their names, such as
// CityReportId, where the record has no id at the usual pointers and the operator has not
// stated where ids are. It uses none that is not certain, because a feed under wrong ids would
// have to be revoked. So a place is not certain either where two records of a payload have
// the same value there.
type guesser struct {
	vocabulary *vocabulary.Vocabulary
	own        vocabulary.Concepts // what a record of this kind is called
	about      vocabulary.Concepts // what several records may be about
	named      vocabulary.Concepts // of the id of a name in somebody else's list of places
	id, number vocabulary.Concepts
	link       vocabulary.Concepts
	deleted    vocabulary.Concepts
	status     vocabulary.Concepts   // of a number that is not a code of a city
	codes      []vocabulary.Concepts // of a city
	foreign    vocabulary.Concepts
	language   vocabulary.Concepts
	event      vocabulary.Concepts // of the name of what happened
	name       vocabulary.Concepts
	page       vocabulary.Concepts // of numbers that say which part of all records this is
	kept       vocabulary.Concepts // of what an envelope may say of its record
	shown      vocabulary.Concepts // of what says which report it is
	meta       vocabulary.Concepts // of what may stand beside records in an envelope
	time       vocabulary.Concepts // of these, when something was done
}

func newGuesser(v *vocabulary.Vocabulary, kind report.Kind) *guesser {
	g := &guesser{
		vocabulary: v, id: v.Concepts("id"), number: v.Concepts("number"), status: v.Concepts("code"),
		foreign: v.Concepts("foreign parent"), named: v.Concepts("geo name"), language: v.Concepts("language"),
		meta:  v.Concepts("foreign parent date published created updated language link"),
		time:  v.Concepts("date published created updated"),
		event: v.Concepts("event category"), name: v.Concepts("name"), link: v.Concepts("link"), deleted: v.Concepts("deleted"), page: v.Concepts("start end"), kept: v.Concepts("published updated language"),
		shown: v.Concepts("title name summary text country place city destination"),
	}
	switch kind {
	case report.Cities:
		g.own, g.about = v.Concepts("report city travel"), v.Concepts("destination place")
		g.codes = []vocabulary.Concepts{v.Concepts("code"), v.Concepts("city code"), v.Concepts("iata"), v.Concepts("iata code"), v.Concepts("city iata")}
	case report.Advisories:
		g.own, g.about = v.Concepts("report advisory travel"), v.Concepts("event")
	default:
		g.own, g.about = v.Concepts("report special advisory travel"), v.Concepts("event")
	}
	return g
}

// likely is a value that looks like the id of a record.
type likely struct {
	at   jsontext.Pointer
	text string
	sure bool // nothing else has such a name
}

const (
	maxNamesRead   = 300 // of the members of a record
	maxLikelyDepth = 3
)

// likely returns the values that look like the id of a record, in its order.
func (g *guesser) likely(r record) []likely {
	var found []likely
	read := 0
	g.in(r.members, "", 0, 0, &read, &found)
	return found
}

func (g *guesser) in(list []jsonscan.Member, path jsontext.Pointer, means vocabulary.Concepts, depth int, read *int, found *[]likely) {
	for _, m := range list {
		if *read++; *read > maxNamesRead {
			return
		}
		n := g.vocabulary.Read(m.Name)
		if strings.EqualFold(m.Name, "uid") && jsonscan.FirstByte(m.Value) != '"' {
			n.Concepts |= g.foreign // that of a user, in content systems
		}
		if rest, found := cutNumber(m.Name); n.Unknown && found {
			if n = g.vocabulary.Read(rest); !n.Unknown {
				n.Concepts, n.Last = n.Concepts|g.number, g.number
			}
		}
		all := means | n.Concepts
		value, ofOne := m.Value, false
		if jsonscan.FirstByte(value) == '[' { // it counts if it has one element
			if value, ofOne = jsonscan.Only(value), true; value == nil {
				continue
			}
		}
		at := func() jsontext.Pointer {
			if ofOne {
				return path.AppendToken(m.Name).AppendToken("0")
			}
			return path.AppendToken(m.Name)
		}
		inner, wrapped := g.wrapped(value)
		if wrapped && !g.vocabulary.Read(inner.Name).Unknown { // of one record, an unknown name says too little
			value = inner.Value
			outer := at
			at = func() jsontext.Pointer { return outer().AppendToken(inner.Name) }
		}
		if jsonscan.FirstByte(value) == '{' {
			if !n.Unknown && all&^(g.own|g.about|g.id) == 0 && depth < maxLikelyDepth {
				g.in(jsonscan.Members(value), at(), all, depth+1, read, found)
			}
			continue
		}
		text, ok := scalarText(value)
		if !ok || len(text) > report.MaxIDBytes || len(*found) >= maxPlaces {
			continue
		}
		switch named := all & (g.id | g.number); {
		case named == 0 || all&g.foreign != 0:
		case !n.Unknown && all&^(g.own|g.id|g.number) == 0 && (named&g.id != 0 || all&g.own != 0):
			*found = append(*found, likely{at(), text, true})
		case n.Unknown && n.Last&(g.id|g.number) != 0, !n.Unknown && all == g.number,
			!n.Unknown && all&(g.about|g.named) != 0 && named&g.id != 0 && all&^(g.own|g.about|g.named|g.id|g.number) == 0,
			!n.Unknown && all&g.about != 0 && all&^(g.own|g.about|g.id|g.number) == 0:
			*found = append(*found, likely{at(), text, false})
		}
	}
}

// wrapped returns the scalar that is all that an object has, under a name that says nothing, as in
// {"S": "R-1"}.
func (g *guesser) wrapped(object []byte) (inner jsonscan.Member, ok bool) {
	if jsonscan.FirstByte(object) != '{' {
		return inner, false
	}
	members := jsonscan.Members(object)
	if len(members) != 1 || g.vocabulary.Read(members[0].Name).Concepts != 0 {
		return inner, false
	}
	_, ok = scalarText(members[0].Value)
	return members[0], ok
}

// cutNumber returns a name without the word that says that it is of a number, in reportNo. The
// vocabulary does not have the word, since it means more than that by itself.
func cutNumber(name string) (rest string, found bool) {
	words := vocabulary.Words(name)
	if last := len(words) - 1; last > 0 && strings.EqualFold(words[last], "no") {
		return strings.Join(words[:last], " "), true
	}
	return "", false
}

// code returns the three-letter code that a city states by the words of its name.
func (g *guesser) code(list []jsonscan.Member) string {
	for _, m := range list[:min(len(list), maxNamesRead)] {
		n := g.vocabulary.Read(m.Name)
		if !n.Unknown && slices.Contains(g.codes, n.Concepts) {
			if text, ok := quotedText(m.Value); ok && report.CodeOf(text) != "" {
				return report.CodeOf(text)
			}
		}
	}
	return ""
}

// isMeta reports whether a member is something that an envelope says of itself, by its name and
// the first byte of its value: a date, a version, a link, a language; a number, true or false
// whose name means nothing of a report.
func (g *guesser) isMeta(name string, first byte) bool {
	n := g.vocabulary.Read(name)
	switch first {
	case '{', '[':
		return !n.Unknown && n.Concepts != 0 && n.Concepts&^g.meta == 0
	case '"':
		if n.Last == g.link { // to the last page
			n.Concepts &^= g.page
		}
		return n.Last != 0 && n.Concepts&^g.meta == 0
	}
	return n.Concepts&^(g.meta|g.status) == 0
}

// isOfTime reports whether a name says when something was done, or to what: updated.
func (g *guesser) isOfTime(name string) bool {
	return g.vocabulary.Read(name).Concepts&g.time != 0
}

// languageOf returns the language that an object states for itself, or "".
func (g *guesser) languageOf(list []jsonscan.Member) string {
	for _, m := range list[:min(len(list), maxNamesRead)] {
		n := g.vocabulary.Read(m.Name)
		if n.Unknown || n.Concepts != g.language {
			continue
		}
		if text, ok := quotedText(m.Value); ok {
			return vocabulary.Language(text)
		}
	}
	return ""
}

// maxPlaces bounds the places that are collected.
const maxPlaces = 20

// survey says where the records of a payload seem to state ids, where they have none at the
// usual pointers.
type survey struct {
	known      int              // records with an id at the usual pointers
	candidates []*candidate     // of the other records, in the order of appearance
	at         jsontext.Pointer // the one place that is certain; empty where there is none, or several
	prefix     string           // of the links at this place, which end in the ids
}

type candidate struct {
	at       jsontext.Pointer
	example  string
	records  int
	sure     bool
	repeated string // a value that two different records have; empty where there is none
}

// surveyOf examines all records of a payload.
func (s *splitter) surveyOf(records iter.Seq[record]) *survey {
	found := new(survey)
	byPlace := map[jsontext.Pointer]*candidate{}
	conflict := false
	var unique uniqueColumns
	coded := 0
	seed, bodies := maphash.MakeSeed(), map[uint64]uint64{} // of the ids at found.at
	read := 0
	for r := range records {
		if read++; read > maxRecords {
			break // more are refused
		}
		if jsonscan.FirstByte(r.raw) != '{' {
			continue
		}
		if s.hasOwnID(r) {
			found.known++
			continue
		}
		if s.kind == report.Cities {
			if code, _ := s.codeIn(r); code != "" || s.hasID(r) {
				coded++
			}
		}
		unique.add(s.guess, r)
		sure := ""
		for _, l := range s.guess.likely(r) {
			p := byPlace[l.at]
			if p == nil && len(found.candidates) < maxPlaces {
				p = &candidate{at: l.at, example: l.text, sure: l.sure}
				byPlace[l.at], found.candidates = p, append(found.candidates, p)
			}
			if p != nil {
				p.records++
			}
			if !l.sure {
				continue
			}
			conflict = conflict || sure != "" && sure != l.text || found.at != "" && found.at != l.at && sure == ""
			if sure == "" {
				sure = l.text
				if found.at == "" {
					found.at = l.at
				}
			}
			if p != nil && l.at == found.at && !conflict {
				id, body := maphash.String(seed, l.text), maphash.Bytes(seed, r.raw)
				if other, seen := bodies[id]; seen && other != body {
					p.repeated, conflict = l.text, true
				}
				bodies[id] = body
			}
		}
	}
	switch {
	case found.known > 0:
		found.at = ""
	case conflict || found.at == "":
		if found.at, found.prefix = unique.best(); found.at == "" {
			found.at = unique.referred(records)
		}
	}
	if found.known+len(found.candidates) == 0 && coded < unique.records && (coded > 0 || unique.records >= manyRecords) {
		found.candidates = unique.candidates()
	}
	return found
}

// unclear reports whether the payload has to be refused: no record states an id that riskdex
// would use, and something looks like one.
func (v *survey) unclear() bool { return v.known == 0 && v.at == "" && len(v.candidates) > 0 }

// says returns a sentence about where ids may be and how to state that.
func (v *survey) says(kind report.Kind) string {
	var b strings.Builder
	b.WriteString("These look like ids: ")
	for i, p := range v.candidates {
		if i == maxSaid {
			fmt.Fprintf(&b, ", and %d more", len(v.candidates)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%q, in %d", shortened(string(p.at)), shortened(p.example), p.records)
		if p.repeated != "" {
			fmt.Fprintf(&b, ", %q in more than one of them", shortened(p.repeated))
		}
		b.WriteString(")")
	}
	fmt.Fprintf(&b, ". The operator says which it is with --ids %s=%s, and may then retry this delivery. No other ids of %[1]s count then: if another publisher delivers them here too, add its own, as in %[1]s=/id,%[2]s.", kind, v.best())
	return b.String()
}

// maxSaid bounds the places in a sentence.
const maxSaid = 6

// best returns the place that most records have, a certain one first.
func (v *survey) best() string {
	sayable := slices.DeleteFunc(slices.Clone(v.candidates), func(c *candidate) bool {
		return strings.ContainsAny(string(c.at), ",;=") // as --ids cannot express
	})
	if len(sayable) == 0 {
		sayable = v.candidates
	}
	best := slices.MaxFunc(sayable, func(a, b *candidate) int {
		if a.sure != b.sure {
			if a.sure {
				return 1
			}
			return -1
		}
		return a.records - b.records
	})
	return shortened(string(best.at))
}
