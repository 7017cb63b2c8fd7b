package mappings

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/mappings/language"
	"riskdex/mappings/plaintext"
)

// text writes every readable string of the record, in document order, with a blank line
// between two. It leaves out strings that went to a field of codes, members that the
// mapping file lists in not_text, and what is hidden by its name.
func (x *extractor) text() {
	x.prose, x.passages = x.prose[:0], x.passages[:0]
	cut := x.tree.truncated
	for at := range x.tree.nodes {
		n := &x.tree.nodes[at]
		if n.added {
			break // what comes now is there already
		}
		switch n.kind {
		case '{':
			x.hideType(uint32(at))
			continue
		case '"':
		case '[':
			continue
		default:
			x.trace.notText(x, uint32(at))
			continue
		}
		if n.used || n.rawLen == 2 || x.mapping.notText[string(x.tree.named(uint32(at)))] {
			x.trace.notText(x, uint32(at))
			continue
		}
		start := len(x.prose)
		if start > 0 {
			x.prose = append(x.prose, "\n\n"...)
		}
		own := len(x.prose)
		if n.rawLen <= maxHidden && x.mapping.book != nil && at > 0 && !isHeading(x.tree.named(uint32(at))) {
			name, value := x.reader.name(x.nameOf(uint32(at))), bytes.TrimSpace(x.tree.text(uint32(at)))
			if x.hidden(uint32(at), name, value) {
				x.prose = x.prose[:start]
				x.trace.notText(x, uint32(at))
				continue
			}
			if label := x.label(uint32(at), name, value); label != "" {
				x.prose = append(x.prose, label...)
				x.prose = append(x.prose, ": "...)
			}
		}
		separated := len(x.prose)
		x.prose = plaintext.AppendReadable(x.prose, x.tree.text(uint32(at)), isTime)
		if len(x.prose) == separated {
			x.prose = x.prose[:start]
			x.trace.notText(x, uint32(at))
			continue
		}
		if len(x.prose) > maxText {
			x.prose = plaintext.FirstWords(x.prose, maxText)
			cut = true
			break
		}
		if len(x.textLanguages) > 0 {
			x.passages = append(x.passages, passage{uint32(at), own, len(x.prose), x.detector.Of(x.prose[separated:], language.Sure)})
		}
	}
	if len(x.prose) > 0 {
		x.member("text")
		value := len(x.dst)
		x.dst, _ = jsontext.AppendQuote(x.dst, x.prose)
		x.trace.note(x, "text", 0, fits, value)
	}
	if cut {
		x.unfit = append(x.unfit, "text")
		x.trace.note(x, "text", 0, unfit, 0)
	}
}

// shortestProse, in bytes, is longer than most values that are no sentences.
const shortestProse = 40

// beginning writes the first sentences of a record as its summary, where no member is one. Of
// translations it takes the English one.
func (x *extractor) beginning() {
	if x.mapping.book == nil {
		return
	}
	for i := range x.tree.nodes {
		at := uint32(i)
		if !x.isProse(at) {
			continue
		}
		mark := x.trace.mark()
		v := x.attempt("summary", at, (*extractor).putSummary)
		x.trace.guessed(mark)
		if v == fits {
			return
		}
	}
}

// isProse reports whether a value is text in sentences, other than the title, and the version
// in English if it has one.
func (x *extractor) isProse(at uint32) bool {
	n := &x.tree.nodes[at]
	if at == 0 || n.kind != '"' || n.used || n.rawLen < shortestProse || x.mapping.notText[string(x.tree.named(at))] {
		return false
	}
	s := bytes.TrimSpace(x.tree.text(at))
	if len(s) == 0 || bytes.IndexByte(s, ' ') < 0 || !bytes.Contains(s, []byte(". ")) && !bytes.ContainsRune([]byte(".!?>"), rune(s[len(s)-1])) {
		return false
	}
	return !(x.tree.nodes[n.parent].kind == '{' && x.isLocalized(n.parent) && x.unwrapped(n.parent) != at) && !x.isTitle(at)
}

// isHeading reports whether name is one of the two that most short strings have. Their
// values are text and need no label; not examining them further saves a few percent of the
// time that a document takes.
func isHeading(name []byte) bool { return string(name) == "name" || string(name) == "title" }

// hideType keeps the value of `type` out of `text` if it belongs to the format: in GeoJSON
// and in a JSON:API resource.
func (x *extractor) hideType(object uint32) {
	kind := uint32(none)
	format := false
	for at := x.tree.nodes[object].first; at != none; at = x.tree.nodes[at].next {
		switch string(x.tree.named(at)) {
		case "type":
			kind = at
		case "coordinates", "geometry", "geometries", "features", "attributes":
			format = format || x.tree.nodes[at].kind == '{' || x.tree.nodes[at].kind == '['
		}
	}
	if format && kind != none {
		x.tree.nodes[kind].used = true
	}
}
