package mappings

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// trace records what became of the values that were tried for the fields of one document.
// All methods of a nil trace do nothing.
type trace struct {
	attempts []attempt

	examine    bool // record the following as well
	unread     []FieldSource
	longitudes []jsontext.Pointer // longitudes of locations that are two values
	idle       []Idle
}

// attempt is one value that was tried for one field.
type attempt struct {
	FieldSource
	verdict verdict
}

// note records what became of the value at a node. If it fits, it is in x.dst, starting at
// from. An absent value is not recorded.
func (t *trace) note(x *extractor, name string, at uint32, v verdict, from int) {
	if t == nil || v == absent {
		return
	}
	a := attempt{verdict: v}
	a.Field, a.Pointer = name, x.tree.pointer(at)
	if v == fits {
		value := x.dst[from:]
		if len(value) == 0 {
			return // the list already has this value
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

// guessed marks what was noted since mark, and fits, as found by the words of its name.
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

// noteLongitude records the longitude of a location in two values, unless at is none.
func (t *trace) noteLongitude(x *extractor, at uint32) {
	if t != nil && t.examine && at != none {
		t.longitudes = append(t.longitudes, x.tree.pointer(at))
	}
}

// mark returns where the attempts for the next field begin.
func (t *trace) mark() int {
	if t == nil {
		return 0
	}
	return len(t.attempts)
}

// settle ends the attempts for the field that began at mark. Those that failed are kept
// only if the field is reported, and an object or an array only if no value was unfit, as
// one inside it would be.
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
