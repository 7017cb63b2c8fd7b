package mappings

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
	"riskdex/mappings/plaintext"
)

// riskScale is how the publisher counts levels: `"1-4"`, the level of the lowest risk
// first, so `"5-1"` if 1 is the worst; or labels in that order. Levels are spread over 1 to
// 5.
type riskScale struct {
	low, high int
	labels    []string
}

var errScale = errors.New(`a scale is "1-4", the level of the lowest risk first, or a list of at least two labels in that order`)

// IsZero reports whether the mapping file states no scale.
func (s riskScale) IsZero() bool { return s.low == s.high && s.labels == nil }

// level converts a level of the scale to one from 1 to 5.
func (s riskScale) level(n float64) (int, bool) {
	low, high := float64(s.low), float64(s.high)
	if low == high || n != math.Trunc(n) || n < min(low, high) || n > max(low, high) {
		return 0, false
	}
	return 1 + int(math.Round(4*(n-low)/(high-low))), true
}

// labelLevel returns the level, from 1 to 5, of a label of the scale. The label is folded.
func (s riskScale) labelLevel(folded string) (int, bool) {
	for i, label := range s.labels {
		if vocabulary.Fold(label) == folded {
			return riskScale{low: 0, high: len(s.labels) - 1}.level(float64(i))
		}
	}
	return 0, false
}

// UnmarshalJSONFrom reads "1-4" or ["low", "middle", "high"].
func (s *riskScale) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		if err := json.UnmarshalDecode(d, &s.labels); err != nil {
			return err
		}
		if len(s.labels) < 2 {
			return errScale
		}
		return nil
	}
	var text string
	if err := json.UnmarshalDecode(d, &text); err != nil {
		return errScale
	}
	var ok bool
	if s.low, s.high, ok = parseScale(text); !ok {
		return errScale
	}
	return nil
}

// parseScale reads a scale such as "1-4".
func parseScale(text string) (low, high int, ok bool) {
	from, to, found := strings.Cut(text, "-")
	low, errLow := strconv.Atoi(strings.TrimSpace(from))
	high, errHigh := strconv.Atoi(strings.TrimSpace(to))
	return low, high, found && errLow == nil && errHigh == nil && low != high && low <= maxScale && high <= maxScale
}

// MarshalJSONTo writes what UnmarshalJSONFrom reads.
func (s riskScale) MarshalJSONTo(e *jsontext.Encoder) error {
	if s.labels != nil {
		return json.MarshalEncode(e, s.labels)
	}
	return json.MarshalEncode(e, fmt.Sprintf("%d-%d", s.low, s.high))
}

// maxScale is the highest level that a scale may have. That of a percentage is 100.
const maxScale = 1000

// countedLevel returns the level that a value means. A number counts on the scale that is stated
// beside it, as in {"score": 3, "of": 4}. A score without a scale may be of any: it is a level
// only if a pattern leads to it, so not if guessed is set. Nor is a number a level if the label of
// the record has another place on every scale of five levels: 1 may be the worst.
func (x *extractor) countedLevel(at uint32, s []byte, guessed bool) (int, verdict) {
	n, err := strconv.ParseFloat(string(s), 64)
	if err != nil || !x.mapping.RiskScale.IsZero() {
		return x.riskLevel(s)
	}
	if x.mapping.book != nil {
		scale, stated := x.scaleBeside(at)
		switch {
		case guessed && !stated && x.reader.name(x.nameOf(at)).Last == x.reader.bits.score:
			return 0, absent
		case stated:
			if level, ok := scale.level(n); ok {
				return level, fits
			}
			return 0, unfit
		}
	}
	level, v := x.riskLevel(s)
	if v == fits && !x.mapping.mayBeCalled(level, x.called) {
		return 0, unfit
	}
	return level, v
}

// mayBeCalled reports whether a label, folded, is unknown or that of a level on some scale of five.
// The rare last one does not count.
func (m *kindMapping) mayBeCalled(level int, label string) bool {
	label = m.labelInEnglish(label)
	usual, known := m.levels[label]
	for i := range ladders[:len(ladders)-1] {
		if of := ladders[i].level(label); of > 0 {
			if known = true; of == level {
				return true
			}
		}
	}
	return !known || usual == level
}

// scaleBeside returns the scale that the name of a level states, or else the members beside it: the
// highest level, and perhaps the lowest. The object that has them must be called after the level, or
// else they must, because other objects have members about other things as well. A scale that is
// stated in a way that cannot be read has no levels.
func (x *extractor) scaleBeside(at uint32) (scale riskScale, stated bool) {
	if high := x.reader.name(x.nameOf(at)).OutOf; high > 0 {
		return riskScale{low: 1, high: high}, true
	}
	parent := x.tree.nodes[at].parent
	if x.tree.nodes[at].element {
		return riskScale{}, false
	}
	bits, rates := &x.reader.bits, x.ratesSomething(parent)
	scale.low = 1
	for of := x.tree.nodes[parent].first; of != none; of = x.tree.nodes[of].next {
		if of == at {
			continue
		}
		n := x.reader.name(x.tree.quotedName(of))
		name := string(x.tree.named(of))
		switch {
		case rates && (name == "of" || name == "outof"):
		case n.Unknown || n.Concepts&(bits.scale|bits.lowest) == 0 || n.Concepts&^(bits.scale|bits.lowest|bits.rates) != 0:
			continue
		case !rates && n.Concepts&bits.rates == 0:
			continue
		}
		s, v := x.scalar(of)
		if v == absent {
			continue
		}
		number, err := strconv.Atoi(string(s))
		low, high, isRange := parseScale(string(s))
		switch {
		case n.Concepts&bits.lowest != 0:
			if err == nil {
				scale.low = number
			}
			continue
		case err == nil:
			scale.high = number
		case isRange:
			scale.low, scale.high = low, high
		default:
			return riskScale{}, true
		}
		stated = true
	}
	return scale, stated
}

// ratesSomething reports whether an object is called after a level, or is in one that is and
// has a name that says nothing.
func (x *extractor) ratesSomething(object uint32) bool {
	for range maxGuessDepth {
		if object == 0 || slices.Contains(x.roots, object) {
			return false
		}
		n := x.reader.name(x.nameOf(object))
		if n.Unknown || n.Concepts != 0 {
			return !n.Unknown && n.Concepts&^x.reader.bits.rates == 0
		}
		object = x.tree.nodes[object].parent
	}
	return false
}

// labelled reads a level that is not just a number: a label, perhaps with words such as
// "risk" beside it or the number of that level before it; "3 of 4"; "3/5".
func (x *extractor) labelled(s []byte) (int, verdict) {
	x.cleaned = plaintext.AppendLine(x.cleaned[:0], s)
	if len(x.cleaned) > maxFact {
		return 0, unfit
	}
	folded := vocabulary.Fold(string(x.cleaned))
	if level, known := x.labelLevel(folded); known {
		return level, fits
	}
	var words []string
	var numbers []float64
	of := strings.Contains(folded, "/")
	for _, word := range strings.FieldsFunc(folded, func(c rune) bool { return strings.ContainsRune(" _/:-–—()[],.|", c) }) {
		if n, err := strconv.ParseUint(word, 10, 16); err == nil {
			numbers = append(numbers, float64(n))
			continue
		}
		switch word {
		case "of", "out", "sur", "von", "de", "aus":
			of = of || len(numbers) == 1
		case "risk", "level", "rating", "threat", "category", "risque", "niveau", "riesgo", "nivel", "risiko", "stufe", "overall":
		default:
			words = append(words, word)
		}
	}
	label, known := x.labelLevel(strings.Join(words, " "))
	counted, ok := 0, false
	switch {
	case len(numbers) == 2 && of && numbers[1] >= 2 && numbers[1] <= 10:
		counted, ok = riskScale{low: 1, high: int(numbers[1])}.level(numbers[0])
	case len(numbers) == 1 && !x.mapping.RiskScale.IsZero() && x.mapping.RiskScale.labels == nil:
		counted, ok = x.mapping.RiskScale.level(numbers[0])
	case len(numbers) == 1 && known:
		counted, ok = int(numbers[0]), int(numbers[0]) == label // otherwise the scale is unknown
	case len(numbers) == 0 && known:
		return label, fits
	}
	if !ok || known && label != counted {
		return 0, unfit
	}
	return counted, fits
}

// labelLevel returns the level of a label, folded. Low, moderate, severe and very high have one
// level on some scales and another on others: there the other labels of the record decide, unless
// the mapping file does. High and medium stay what they are. A label of another language that the
// mapping file does not have is as its English one.
func (x *extractor) labelLevel(folded string) (int, bool) {
	if level, known := x.mapping.RiskScale.labelLevel(folded); known {
		return level, true
	}
	folded = x.mapping.labelInEnglish(folded)
	level, known := x.mapping.levels[folded]
	if known && x.mapping.book != nil && !x.mapping.isTaught(folded) {
		if of := x.ladderOf(folded); of != nil && folded != "high" && folded != "medium" {
			level = of.level(folded)
		}
	}
	return level, known
}
