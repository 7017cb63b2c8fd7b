package mappings

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// pointer returns the JSON Pointer of a node, with names as the record spells them.
func (t *tree) pointer(at uint32) jsontext.Pointer {
	var path jsontext.Pointer
	for parent := uint32(0); parent != at; {
		child, index := t.nodes[parent].first, 0
		for next := t.nodes[child].next; next != none && next <= at; next = t.nodes[child].next {
			child, index = next, index+1
		}
		if t.nodes[child].element {
			path = path.AppendToken(jsontext.Int(int64(index)).String())
		} else {
			path = path.AppendToken(t.originalName(child))
		}
		parent = child
	}
	return path
}

// originalName returns the name of a member as the record spells it. It is the string
// before the value.
func (t *tree) originalName(at uint32) string {
	if t.nodes[at].added {
		return string(t.named(at))
	}
	quoted := bytes.TrimRight(t.body[:t.nodes[at].rawAt], " \t\r\n:")
	start := len(quoted) - 1
	for start--; quoted[start] != '"' || quoted[start-1] == '\\'; start-- {
	}
	name, _ := jsontext.AppendUnquote(nil, quoted[start:]) // parse has checked it
	return string(name)
}

// value returns a value as the record has it.
func (t *tree) value(at uint32) jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewReader(t.body[t.nodes[at].rawAt:]), jsontext.AllowInvalidUTF8(true))
	value, _ := d.ReadValue() // parse has checked it
	return value.Clone()
}
