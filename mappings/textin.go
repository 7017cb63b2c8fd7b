package mappings

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
)

// passage is a string of the record in `text`.
type passage struct {
	at         uint32 // the string
	start, end int    // in x.prose
	language   string // "" if it does not tell itself
}

// spoken says what is stated about the language of the values in an object or an array.
type spoken struct {
	byName bool   // its members are translations, named after languages
	here   string // stated for all of it, or for what is around it; "" if it is not
}

// textIn writes what is not in English a second time, by language, for the analyzers of
// text_in in index.json. A document in English has no such field.
//
// A string of several words tells its language itself, for what a record states is often the
// language of the publisher's website. For a short string, what is stated counts if some of
// the record is in that language, or else the language that most of the record is in.
func (x *extractor) textIn() {
	if len(x.textLanguages) == 0 || len(x.passages) == 0 {
		return
	}
	clear(x.sizes)
	for _, p := range x.passages {
		if p.language != "" {
			x.sizes[p.language] += p.end - p.start
		}
	}
	main := x.mainLanguage()
	start := 0
	for _, code := range x.textLanguages {
		if code != main && x.sizes[code] == 0 {
			continue
		}
		if start == 0 {
			x.shortPassages(main)
			x.member("text_in")
			start = len(x.dst)
		}
		x.dst = append(x.dst, ',', '"')
		x.dst = append(x.dst, code...)
		x.dst = append(x.dst, '"', ':')
		value := len(x.dst)
		x.dst, _ = jsontext.AppendQuote(x.dst, x.textOf(code))
		x.trace.noteLanguage(x, code, value)
	}
	if start > 0 {
		x.dst[start] = '{'
		x.dst = append(x.dst, '}')
	}
}

// mainLanguage returns the language that most of the text is in, or "". If no passage tells
// one, the text as a whole does, or the record states it.
func (x *extractor) mainLanguage() string {
	main := ""
	for _, code := range slices.Sorted(maps.Keys(x.sizes)) {
		if x.sizes[code] > x.sizes[main] {
			main = code
		}
	}
	if main == "" {
		main = x.detector.Of(x.prose, 2)
	}
	for i := 0; main == "" && i < len(x.roots); i++ {
		main = x.languageOf(x.roots[i])
	}
	return main
}

// shortPassages gives a language to the passages that do not tell it.
func (x *extractor) shortPassages(main string) {
	clear(x.speech)
	for i := range x.passages {
		if p := &x.passages[i]; p.language == "" {
			p.language = x.stated(p.at)
			if x.sizes[p.language] == 0 {
				p.language = main
			}
		}
	}
}

// textOf returns the passages in a language. It is valid until x.cleaned is used again.
func (x *extractor) textOf(code string) []byte {
	x.cleaned = x.cleaned[:0]
	for _, p := range x.passages {
		if p.language != code {
			continue
		}
		if len(x.cleaned) > 0 {
			x.cleaned = append(x.cleaned, "\n\n"...)
		}
		x.cleaned = append(x.cleaned, x.prose[p.start:p.end]...)
	}
	return x.cleaned
}

// stated returns the language that a record states for a value, by the name of a member, as
// in {"fr": …} and title_fr, or in a member beside it. It returns "" if there is none.
func (x *extractor) stated(at uint32) string {
	if at == 0 {
		return ""
	}
	parent := x.tree.nodes[at].parent
	around, known := x.speech[parent]
	if !known {
		if x.tree.nodes[parent].kind == '{' {
			around.byName = x.isLocalized(parent) || x.isTranslated(parent)
			around.here = x.languageOf(parent)
		}
		if around.here == "" {
			around.here = x.stated(parent)
		}
		x.speech[parent] = around
	}
	if x.tree.nodes[at].element {
		return around.here
	}
	name := x.tree.quotedName(at)
	if around.byName {
		return vocabulary.MapLanguage(string(name))
	}
	if code := x.reader.name(name).Language; code != "" {
		return code
	}
	return around.here
}

// textInField is before the language in the name of a field that an explanation has.
const textInField = "text_in."

// noteLanguage records the text in a language, which is in x.cleaned, and what told that.
func (t *trace) noteLanguage(x *extractor, code string, from int) {
	if t == nil {
		return
	}
	t.note(x, textInField+code, 0, fits, from)
	why := "the record states this language"
	if words := x.detector.Words(x.cleaned, code); len(words) > 0 {
		why = "its words: " + strings.Join(words, ", ")
	} else if x.detector.Of(x.cleaned, 1) == code {
		why = "its script"
	}
	t.attempts[len(t.attempts)-1].Because = why
}

// languages returns the languages for which the mapping has a field in text_in, in order.
func (f indexFile) languages() ([]string, error) {
	var properties struct {
		TextIn struct {
			Properties map[string]jsontext.Value `json:"properties"`
		} `json:"text_in"`
	}
	if f.Mappings["properties"] == nil {
		return nil, nil
	}
	err := json.Unmarshal(f.Mappings["properties"], &properties)
	return slices.Sorted(maps.Keys(properties.TextIn.Properties)), err
}
