package receiver

import (
	"fmt"
	"strings"

	"riskdex/receiver/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxHintName  = 40 // bytes of the name of a member that a hint repeats
	maxHintDepth = 4  // objects around the list
)

// listHint says where the records may be in a payload that was read as one record without an
// id: at its longest list of objects. It is "" where there is no such list.
func (s *splitter) listHint(raw []byte) string {
	path, n := longestList(raw, maxHintDepth)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" There is a list of %d objects at %s: if those are the records, the operator can say so with --records %s=%[2]s.", n, path, s.kind)
}

// longestList returns the JSON pointer to the list with the most objects, within up to depth
// objects, and the number of these objects.
func longestList(raw []byte, depth int) (path jsontext.Pointer, most int) {
	for _, m := range jsonscan.Members(raw) {
		if len(m.Name) > maxHintName || strings.ContainsAny(m.Name, ",;=") {
			continue // --records cannot express it
		}
		at, n := jsontext.Pointer(""), 0
		switch jsonscan.FirstByte(m.Value) {
		case '[':
			n = countObjects(m.Value)
		case '{':
			if depth > 1 {
				at, n = longestList(m.Value, depth-1)
			}
		}
		if n > most {
			most, path = n, jsontext.Pointer("").AppendToken(m.Name)+at
		}
	}
	return path, most
}
