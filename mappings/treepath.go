package mappings

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// pointer returns the JSON Pointer of a node, with names as the record spells them. That of the name of a
// member is the one of its value.
func (t *tree) pointer(at uint32) jsontext.Pointer {
	var tokens []string
	for ; at != 0; at = t.nodes[at].parent {
		switch n := &t.nodes[at]; {
		case n.isName:
		case n.element:
			index := 0
			for of := t.nodes[n.parent].first; of != at && of != none; of = t.nodes[of].next {
				index++
			}
			tokens = append(tokens, jsontext.Int(int64(index)).String())
		default:
			tokens = append(tokens, string(t.quotedName(at)))
		}
	}
	var path jsontext.Pointer
	for _, token := range slices.Backward(tokens) {
		path = path.AppendToken(token)
	}
	return path
}

// nameBefore returns where the name of a member is in the record, with its quotes: it is the string before
// the value.
func (t *tree) nameBefore(at uint32) (start, end int) {
	end = int(t.nodes[at].rawAt)
	for t.body[end-1] != '"' {
		end--
	}
	start = end - 2
	for t.body[start] != '"' || t.body[start-1] == '\\' {
		start--
	}
	return start, end
}

// value returns a value as the record has it.
func (t *tree) value(at uint32) jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewReader(t.body[t.nodes[at].rawAt:]), jsontext.AllowInvalidUTF8(true))
	value, _ := d.ReadValue() // parse has checked it
	return value.Clone()
}

// nameNode returns a node with the name of a member as its value, or none.
func (t *tree) nameNode(at uint32) uint32 {
	if t.nodes[at].added || t.nodes[at].element || at == 0 || len(t.nodes) >= maxNodes {
		return none
	}
	start, end := t.nameBefore(at)
	t.nodes = append(t.nodes, node{
		kind: '"', rawAt: uint32(start), rawLen: uint32(end - start), parent: at,
		nameAt: t.nodes[at].nameAt, nameLen: t.nodes[at].nameLen, added: true, isName: true,
	})
	return uint32(len(t.nodes) - 1)
}
