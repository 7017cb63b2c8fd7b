package reconcile

import (
	"bytes"
	"crypto/sha256"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// List is what the publisher has of one kind.
type List struct {
	Kind     report.Kind
	Records  bool   // it has records, and not only ids
	Repeated int    // ids that came before
	Unread   int    // entries without an id that can be read
	Why      string // of the first of these
	Doubt    string // why it is not a ground for a removal by itself, or nothing

	entries []entry
	byName  map[string]int32
	byCode  map[string]int32 // names that may be codes of cities
	stated  map[string]int32 // codes that records state beside an id
	shared  map[string]bool  // those of them that records of several ids state
	twice   string           // the first name that came before
	arrays  int              // of records, each of which may be a page
	feed    feed
}

// entry is one document of a list.
type entry struct {
	name    string
	digest  digest
	exact   bool // name is an id, and never a code
	also    bool // another name of an entry, which is not missing
	found   bool // a document has it as its id
	coded   bool // a document has it as its code
	several bool // more than one does
}

// digest tells records apart. Records with the same members in another order, or with other
// white space, or whose numbers are written in another way, have the same.
type digest [16]byte

func digestOf(record []byte) digest {
	v := jsontext.Value(bytes.Clone(record))
	// Whole numbers keep their digits: as a float64, long ids would become the same.
	err := v.Canonicalize(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.CanonicalizeRawInts(false))
	if err != nil {
		v = record
	}
	sum := sha256.Sum256(v)
	return digest(sum[:len(digest{})])
}

func newList(kind report.Kind) *List {
	return &List{Kind: kind, byName: map[string]int32{}, byCode: map[string]int32{}, stated: map[string]int32{}, shared: map[string]bool{}}
}

// Len returns how many documents are in the list.
func (l *List) Len() (n int) {
	for i := range l.entries {
		if !l.entries[i].also {
			n++
		}
	}
	return n
}

// unread notes entries without an id.
func (l *List) unread(n int, why string) {
	if n > 0 && l.Unread == 0 {
		l.Why = why
	}
	l.Unread += n
}

// add adds an entry. Of a repeated one, the last digest counts.
func (l *List) add(e entry, code string) {
	code = report.CodeOf(code)
	i, known := l.byName[e.name]
	if !known && l.Kind == report.Cities && !e.exact {
		if i, known = l.byCode[report.CodeOf(e.name)]; known {
			l.byName[e.name] = i // the same code in other letters
		}
	}
	switch {
	case known:
		before := &l.entries[i]
		before.exact = before.exact && e.exact
		if !e.also {
			if !before.also {
				l.repeat(e.name)
			}
			before.digest, before.also = e.digest, false
		}
	case len(l.entries) == math.MaxInt32:
		l.unread(1, "there are too many")
		return
	default:
		i = int32(len(l.entries)) // #nosec G115 -- it is checked above
		e.name = strings.Clone(e.name)
		l.entries = append(l.entries, e)
		l.byName[e.name] = i
	}
	if l.Kind != report.Cities {
		return
	}
	e = l.entries[i]
	if name := report.CodeOf(e.name); name != "" && !e.exact {
		l.byCode[name] = i
	}
	if code != "" && e.exact {
		if before, ok := l.stated[code]; ok && before != i {
			l.shared[code] = true
		}
		l.stated[code] = i
	}
}

// repeat notes a name that came before.
func (l *List) repeat(name string) {
	if l.Repeated++; l.Repeated == 1 {
		l.twice = name
	}
}

// addName adds a name, which is an id or the code of a city.
func (l *List) addName(id report.ID) { l.add(entry{name: string(id)}, "") }

// addChange adds what a delivery would change.
func (l *List) addChange(c report.Change) {
	e := entry{name: string(c.ID), digest: digestOf(c.Body), exact: c.Kind != report.Cities || c.OwnID == c.ID}
	if i, ok := l.statesCode(c.ID); ok && c.OwnID == "" {
		l.repeat(e.name)
		l.entries[i].digest = e.digest
		l.add(entry{name: e.name, also: true}, "")
		return
	}
	if c.Kind != report.Cities || c.OwnID == "" || c.OwnID == c.ID {
		l.add(e, c.Code)
		return
	}
	// Of a PUT: it is for the city of this path if there is one, or else of this id.
	l.add(entry{name: string(c.OwnID), digest: e.digest, exact: true}, c.Code)
	l.add(entry{name: string(c.ID), also: true}, "")
}

// statesCode returns the entry of the one city whose record states a name as its code beside an
// id, unless the name is itself an id.
func (l *List) statesCode(name report.ID) (int32, bool) {
	code := report.CodeOf(string(name))
	i, ok := l.stated[code]
	if !ok || l.shared[code] || l.entries[i].also {
		return 0, false
	}
	if own, known := l.byName[string(name)]; known && l.entries[own].exact {
		return 0, false
	}
	return i, true
}
