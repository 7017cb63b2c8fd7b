package mappings

import (
	"errors"
	"fmt"
	"math"
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
	if n != math.Trunc(n) || n < min(low, high) || n > max(low, high) {
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
	low, high, found := strings.Cut(text, "-")
	var errs [2]error
	s.low, errs[0] = strconv.Atoi(strings.TrimSpace(low))
	s.high, errs[1] = strconv.Atoi(strings.TrimSpace(high))
	if !found || errors.Join(errs[:]...) != nil || s.low == s.high || s.low > maxScale || s.high > maxScale {
		return errScale
	}
	return nil
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
	for _, word := range strings.FieldsFunc(folded, func(c rune) bool { return strings.ContainsRune(" /:-–—()[],.|", c) }) {
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

func (x *extractor) labelLevel(folded string) (int, bool) {
	if level, known := x.mapping.RiskScale.labelLevel(folded); known {
		return level, true
	}
	level, known := x.mapping.levels[folded]
	return level, known
}
