package mappings

import (
	"bytes"
	"strconv"
	"strings"

	"riskdex/internal/vocabulary"
	"riskdex/mappings/gazetteer"
	"riskdex/mappings/plaintext"
)

// verdict is the outcome of converting a value for a field.
type verdict int

const (
	absent    verdict = iota // it says nothing about the field
	fits                     // the field has it
	unfit                    // it is meant for the field but cannot be in it
	container                // an object or array where the field takes a scalar
	surplus                  // the field has as many values as it takes
	unsure                   // it may mean either of two things
)

// The most that the fields of a document take. An Elasticsearch with a heap of 512 MiB was
// killed by 20 MB of text with as much source, and by 300,000 names of 7 MB in all. It
// never accepts a bulk of more than a tenth of its heap. Nobody reads more than this in one
// report.
const (
	maxLine    = 1_000     // bytes of a title or a name; a longer one is left out
	maxKeyword = 256       // bytes of a keyword; Elasticsearch refuses 32,766
	maxText    = 1_000_000 // bytes of `text`, which is also how far a search highlights
	maxSummary = 600       // bytes of a summary, which every hit of a search has; a longer one is cut
	maxValues  = 500       // values of a field that takes several; there are 250 countries
	maxSource  = 4 << 20   // bytes of `source`; only the journal keeps a longer one
)

// scalar returns the text of a string or a number.
func (x *extractor) scalar(at uint32) ([]byte, verdict) {
	if x.tree.empty(at) {
		return nil, absent
	}
	switch x.tree.nodes[at].kind {
	case '"':
		return bytes.TrimSpace(x.tree.text(at)), fits
	case '0':
		return x.tree.raw(at), fits
	case '{', '[':
		return nil, container
	}
	return nil, unfit
}

// line returns readable text on one line: a title or a name.
func (x *extractor) line(s []byte) ([]byte, verdict) {
	if plaintext.IsBinary(s) {
		return nil, unfit
	}
	x.cleaned = plaintext.AppendLine(x.cleaned[:0], s)
	switch {
	case len(x.cleaned) == 0:
		return nil, absent
	case len(x.cleaned) > maxLine:
		return nil, unfit
	}
	return x.cleaned, fits
}

// otherName is line without the title, which is no other name.
func (x *extractor) otherName(s []byte) ([]byte, verdict) {
	name, v := x.line(s)
	if v != fits {
		return name, v
	}
	if strings.EqualFold(string(name), x.subject.title) {
		return nil, absent
	}
	if word, ok := severity.english(vocabulary.Fold(string(name))); ok && word == "none" {
		for range x.world().CitiesCalled(gazetteer.Fold(string(name))) {
			return name, v // Brak is a city as well
		}
		return nil, absent
	}
	return name, v
}

// summary returns readable text in paragraphs.
func (x *extractor) summary(s []byte) ([]byte, verdict) {
	if plaintext.IsBinary(s) {
		return nil, unfit
	}
	x.cleaned = plaintext.WithoutMarkdown(plaintext.Append(x.cleaned[:0], s))
	switch {
	case len(x.cleaned) == 0:
		return nil, absent
	case len(x.cleaned) > maxSummary:
		const more = "…"
		x.cleaned = append(plaintext.FirstWords(x.cleaned, maxSummary-len(more)), more...)
	}
	return x.cleaned, fits
}

// code returns a short string without white space, in upper case.
func (x *extractor) code(s []byte) ([]byte, verdict) {
	if len(s) > maxKeyword || bytes.ContainsAny(s, " \t\r\n") {
		return nil, unfit
	}
	x.cleaned = append(x.cleaned[:0], bytes.ToUpper(s)...)
	return x.cleaned, fits
}

// country returns an ISO 3166 alpha-2 code, in upper case, for such a code, an alpha-3 code
// or a name.
func (x *extractor) country(s []byte) ([]byte, verdict) {
	if value, v := x.letters(s, 2); v == fits {
		return append(value[:0], alpha2(string(value))...), fits
	}
	code := x.world().country(string(s))
	if code == "" && strings.EqualFold(string(s), "XKX") {
		code = "XK" // Kosovo has two alpha-3 codes, neither of which ISO assigns
	}
	if code == "" {
		return nil, unfit
	}
	x.cleaned = append(x.cleaned[:0], code...)
	return x.cleaned, fits
}

// alpha2 returns the ISO 3166 code, in upper case, of a country. Two others are in use.
func alpha2(code string) string {
	switch code = strings.ToUpper(code); code {
	case "UK":
		return "GB"
	case "EL":
		return "GR"
	}
	return code
}

// airport returns an IATA code, in upper case.
func (x *extractor) airport(s []byte) ([]byte, verdict) { return x.letters(s, 3) }

// letters returns exactly n ASCII letters, in upper case.
func (x *extractor) letters(s []byte, n int) ([]byte, verdict) {
	if len(s) != n {
		return nil, unfit
	}
	x.cleaned = x.cleaned[:0]
	for _, c := range s {
		upper := c &^ 0x20
		if upper < 'A' || upper > 'Z' {
			return nil, unfit
		}
		x.cleaned = append(x.cleaned, upper)
	}
	return x.cleaned, fits
}

// riskLevel returns the level, from 1 to 5, that a number or a label means.
func (x *extractor) riskLevel(s []byte) (int, verdict) {
	if level, err := strconv.ParseFloat(string(s), 64); err == nil {
		if scale := x.mapping.RiskScale; scale.low != scale.high {
			if level, ok := scale.level(level); ok {
				return level, fits
			}
			return 0, unfit
		}
		if level >= 1 && level <= 5 && level == float64(int(level)) {
			return int(level), fits
		}
		return 0, unfit
	}
	return x.labelled(s)
}

// riskLabel returns what a risk level is called: words, not a number.
func (x *extractor) riskLabel(s []byte) ([]byte, verdict) {
	if _, err := strconv.ParseFloat(string(s), 64); err == nil {
		return nil, absent
	}
	label, v := x.line(s)
	if v == fits && len(label) > maxKeyword {
		return nil, unfit
	}
	return label, v
}
