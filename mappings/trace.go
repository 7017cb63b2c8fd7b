package mappings

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// trace is what became of the values that were looked at for the fields of one
// document. All methods of a nil trace do nothing.
type trace struct {
	attempts []attempt

	examine bool // also what follows
	unread  []FieldSource
	beside  []jsontext.Pointer // longitudes of locations that are two values
	idle    []Idle
}

// attempt is one value that was looked at for one field.
type attempt struct {
	FieldSource
	verdict verdict
}

// note keeps what became of the value at a node; what it became stands in the
// document from there on. A value that says nothing is not worth a note.
func (t *trace) note(x *extractor, name string, at uint32, v verdict, from int) {
	if t == nil || v == absent {
		return
	}
	a := attempt{verdict: v}
	a.Field, a.Pointer = name, x.tree.pointer(at)
	if v == fits {
		value := x.dst[from:]
		if len(value) == 0 {
			return // a value that the list has already
		}
		if value[0] == ',' {
			value = value[1:]
		}
		a.Value = slices.Clone(value)
	} else {
		a.Value, a.Reason = x.tree.value(at), whyNot(name, v)
	}
	t.attempts = append(t.attempts, a)
}

// guessed says of what was noted since mark and fits that the words of its name tell it.
func (t *trace) guessed(mark int) {
	if t == nil {
		return
	}
	for i := range t.attempts[mark:] {
		if a := &t.attempts[mark+i]; a.verdict == fits {
			a.Guessed = true
		}
	}
}

// also notes the longitude of a location, if there is one.
func (t *trace) also(x *extractor, at uint32) {
	if t != nil && t.examine && at != none {
		t.beside = append(t.beside, x.tree.pointer(at))
	}
}

// mark returns where the attempts for a field begin.
func (t *trace) mark() int {
	if t == nil {
		return 0
	}
	return len(t.attempts)
}

// settle ends the attempts for the field that began at mark. Those that failed
// only matter when the field is reported; and then an object or an array only
// when no value inside it was the reason.
func (t *trace) settle(mark int, reported bool) {
	if t == nil {
		return
	}
	since := t.attempts[mark:]
	hasUnfit := slices.ContainsFunc(since, func(a attempt) bool { return a.verdict == unfit || a.verdict == unsure })
	kept := slices.DeleteFunc(since, func(a attempt) bool {
		return a.verdict != fits && !reported || a.verdict == container && hasUnfit
	})
	t.attempts = t.attempts[:mark+len(kept)]
}
