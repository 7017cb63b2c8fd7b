package mappings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth is how deep a record may be nested. Elasticsearch reads 1,000
	// levels, and a record is one level down, in `source`.
	maxDepth = 999

	// maxNodes bounds the memory that one record takes. Values after that many
	// are kept in `source` but are not searchable.
	maxNodes = 1 << 20
)

// none stands for no node. Node 0 is the record itself, which is nobody's child and
// nobody's sibling.
const none = 0

// node is one value of a record. Nodes are in document order.
type node struct {
	nameAt, nameLen uint32 // in tree.names; an element of an array has the name of its array
	rawAt, rawLen   uint32 // in tree.body; of an object or an array only where it starts
	parent          uint32 // the object or the array that it is in
	first, next     uint32 // first child and next sibling, or none
	kind            jsontext.Kind
	element         bool // of an array
	used            bool // its value went to a field and is not text
	added           bool // by enrich; it shows another node
	isName          bool // it shows the name of its parent
	shown           bool // where it is referred to
}

// tree is a record, parsed once. Its memory is reused for the next record.
type tree struct {
	body      []byte
	nodes     []node
	names     []byte // folded member names, one after the other
	unquoted  []byte // strings that had escapes, one after the other
	truncated bool   // there were more than maxNodes values
	frames    []frame
	inner     func(at uint32) uint32 // what patterns go on from at an object with one value by language; nil unless enriched
	input     bytes.Buffer
	decoder   jsontext.Decoder
}

// frame is a container that is still open while parsing.
type frame struct {
	node, last      uint32 // the container and its latest child
	nameAt, nameLen uint32 // of an object's member whose value comes next
	object, named   bool   // named: a member name was read, its value comes next
}

// parse reads body, which must be one strictly valid JSON value: UTF-8, no
// duplicate names, nothing after it.
func (t *tree) parse(body []byte) error {
	if uint64(len(body)) > math.MaxUint32 {
		return fmt.Errorf("it is %d bytes long, more than %d", len(body), uint32(math.MaxUint32))
	}
	t.body, t.nodes, t.names, t.unquoted = body, t.nodes[:0], t.names[:0], t.unquoted[:0]
	t.truncated, t.frames, t.inner = false, t.frames[:0], nil
	t.input = *bytes.NewBuffer(body)
	if !utf8.Valid(body) {
		return errors.New("it is not valid UTF-8")
	}
	// Beyond valid UTF-8, this allows half a surrogate pair in an escape, which
	// Elasticsearch accepts. It reads as U+FFFD.
	t.decoder.Reset(&t.input, jsontext.AllowInvalidUTF8(true))
	for {
		if err := t.next(); err != nil {
			return err
		}
		if len(t.frames) == 0 {
			break
		}
	}
	switch _, err := t.decoder.ReadToken(); {
	case err == nil:
		return errors.New("there is more than one JSON value")
	case err != io.EOF:
		return err
	}
	return nil
}

// next reads one token or scalar.
func (t *tree) next() error {
	kind := t.decoder.PeekKind()
	if kind == '{' || kind == '[' || kind == '}' || kind == ']' {
		if _, err := t.decoder.ReadToken(); err != nil {
			return err
		}
		if kind == '}' || kind == ']' {
			t.frames = t.frames[:len(t.frames)-1]
			return nil
		}
		if len(t.frames) == maxDepth {
			return fmt.Errorf("it is nested deeper than %d levels, which Elasticsearch does not take", maxDepth)
		}
		at := t.add(kind, uint32(t.decoder.InputOffset())-1, 0)
		t.frames = append(t.frames, frame{node: at, object: kind == '{'})
		return nil
	}
	raw, err := t.decoder.ReadValue()
	if err != nil {
		return err
	}
	if n := len(t.frames); n > 0 && t.frames[n-1].object && !t.frames[n-1].named {
		t.name(&t.frames[n-1], raw)
		return nil
	}
	end := t.decoder.InputOffset()
	t.add(kind, uint32(end)-uint32(len(raw)), uint32(len(raw)))
	return nil
}

// name keeps a member name for the value that follows it.
func (t *tree) name(top *frame, quoted []byte) {
	top.named = true
	if t.truncated {
		return
	}
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, quoted) // the decoder has checked it
	}
	top.nameAt = uint32(len(t.names))
	t.names = appendFolded(t.names, name)
	top.nameLen = uint32(len(t.names)) - top.nameAt
}

// add records a value as the latest child of the open container and returns
// its place in t.nodes, or none once there are too many.
func (t *tree) add(kind jsontext.Kind, rawAt, rawLen uint32) uint32 {
	at := uint32(len(t.nodes))
	n := node{kind: kind, rawAt: rawAt, rawLen: rawLen}
	if len(t.frames) == 0 {
		t.nodes = append(t.nodes, n)
		return at
	}
	top := &t.frames[len(t.frames)-1]
	top.named = false
	n.parent = top.node
	if t.truncated = t.truncated || len(t.nodes) == maxNodes; t.truncated {
		return none
	}
	if top.object {
		n.nameAt, n.nameLen = top.nameAt, top.nameLen
	} else {
		n.element = true
		n.nameAt, n.nameLen = t.nodes[top.node].nameAt, t.nodes[top.node].nameLen
	}
	if top.last == none {
		t.nodes[top.node].first = at
	} else {
		t.nodes[top.last].next = at
	}
	top.last = at
	t.nodes = append(t.nodes, n)
	return at
}

// named returns the folded member name of a node.
func (t *tree) named(at uint32) []byte {
	n := &t.nodes[at]
	return t.names[n.nameAt : n.nameAt+n.nameLen]
}

// raw returns a scalar as the record has it.
func (t *tree) raw(at uint32) []byte {
	n := &t.nodes[at]
	return t.body[n.rawAt : n.rawAt+n.rawLen]
}

// text returns a string without quotes and escapes. It is valid until the next parse.
func (t *tree) text(at uint32) []byte {
	raw := t.raw(at)
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	start := len(t.unquoted)
	t.unquoted, _ = jsontext.AppendUnquote(t.unquoted, raw) // parse has checked it
	return t.unquoted[start:]
}

// empty reports whether a value has no content: null, blank, or a container without
// children.
func (t *tree) empty(at uint32) bool {
	switch n := &t.nodes[at]; n.kind {
	case 'n':
		return true
	case '"':
		return n.rawLen == 2 || len(bytes.TrimSpace(t.text(at))) == 0
	case '{', '[':
		return n.first == none
	}
	return false
}

// member returns the child of an object with that folded name, or none.
func (t *tree) member(of uint32, name string) uint32 {
	if t.nodes[of].kind != '{' {
		return none
	}
	for at := t.nodes[of].first; at != none; at = t.nodes[at].next {
		if string(t.named(at)) == name {
			return at
		}
	}
	return none
}

// release drops what refers to the record and memory that was unusually large.
func (t *tree) release() {
	const keep = 1 << 20
	t.body, t.input, t.inner = nil, bytes.Buffer{}, nil
	t.decoder.Reset(&t.input)
	if cap(t.nodes) > keep/32 {
		t.nodes = nil
	}
	if cap(t.names) > keep {
		t.names = nil
	}
	if cap(t.unquoted) > keep {
		t.unquoted = nil
	}
}
