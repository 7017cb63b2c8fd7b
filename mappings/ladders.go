package mappings

import (
	"bytes"
	"slices"
	"sync"
	"unicode/utf8"

	"riskdex/internal/vocabulary"
)

// ladder is a usual scale, the lowest of five levels first. A publisher uses one of the labels of
// each level. A scale of four has none for the middle.
type ladder [5][]string

// ladders are the usual scales. A record is on the first that has all of its labels. The first one
// is that of the built-in mapping files; the last one is rare.
var ladders = []ladder{
	{{"low"}, {"moderate"}, {"medium"}, {"high"}, {"extreme", "critical"}},
	{{"low"}, {"moderate"}, {"substantial"}, {"severe"}, {"critical"}},
	{{"low"}, {"guarded"}, {"elevated"}, {"high"}, {"severe"}},
	{{"low"}, {"moderate"}, {"elevated"}, {"high"}, {"extreme", "critical"}},
	{
		{"minimal", "negligible", "insignificant", "very low"}, {"low", "guarded"}, {"moderate", "medium", "elevated"}, {"high"},
		{"extreme", "critical", "severe", "very high"},
	},
	{{"low"}, {"elevated"}, nil, {"high"}, {"extreme", "critical", "severe"}},
	{{"low"}, {"moderate", "medium"}, {"high"}, {"very high"}, {"extreme", "critical"}},
}

// labelInEnglish returns the English label that a label of another language translates, unless the
// mapping file has it. Both are folded.
func (m *kindMapping) labelInEnglish(label string) string {
	if m.levels[label] != 0 {
		return label
	}
	return englishLabel(label)
}

// englishLabel returns the English label that a label of another language translates, or else the label.
// Both are folded.
func englishLabel(label string) string {
	if english, ok := severity.english(label); ok {
		return english
	}
	return label
}

// otherLabels are those of scales that are not among ladders.
var otherLabels = []string{"none", "limited", "minor", "considerable", "significant", "serious", "major"}

// level returns the level, from 1 to 5, of a label, or 0 if the ladder does not have it.
func (l *ladder) level(label string) int {
	return 1 + slices.IndexFunc(l[:], func(labels []string) bool { return slices.Contains(labels, label) })
}

// holds reports whether every label is on the ladder, and no two have the same level.
func (l *ladder) holds(labels []string) bool {
	var taken [1 + len(l)]bool
	for _, label := range labels {
		level := l.level(label)
		if level == 0 || taken[level] {
			return false
		}
		taken[level] = true
	}
	return true
}

// isLabel has the labels that tell a scale.
var isLabel = func() map[string]bool {
	is := map[string]bool{}
	for _, label := range otherLabels {
		is[label] = true
	}
	for _, l := range ladders {
		for _, labels := range l {
			for _, label := range labels {
				is[label] = true
			}
		}
	}
	return is
}()

// isTaught reports whether a mapping file says what a label means on the publisher's scale: it has
// another level for it than the built-in files have, or for a label of the first ladder.
func (m *kindMapping) isTaught(label string) bool {
	for i, labels := range ladders[0] {
		for _, usual := range labels {
			if m.levels[usual] != i+1 {
				return true
			}
		}
	}
	return !m.RiskScale.IsZero() || m.levels[label] != builtinLevels()[label]
}

// builtinLevels returns the levels of the labels in the built-in mapping files.
var builtinLevels = sync.OnceValue(func() map[string]int {
	data, err := ReadFile("cities.json")
	if err != nil {
		panic(err)
	}
	m, err := parseKind(data)
	if err != nil {
		panic(err)
	}
	return m.levels
})

// ladderOf returns the scale that a label and the others of the record are on, or nil.
func (x *extractor) ladderOf(label string) *ladder {
	if !x.labelsRead {
		x.labels, x.labelsRead = x.appendLabels(x.labels[:0]), true
	}
	all := x.labels
	if !slices.Contains(all, label) {
		all = append(all, label)
	}
	return ladderWith(all)
}

// ladderWith returns the first scale that has all labels, or nil.
func ladderWith(labels []string) *ladder {
	i := slices.IndexFunc(ladders, func(l ladder) bool { return l.holds(labels) })
	if i < 0 {
		return nil
	}
	return &ladders[i]
}

// appendLabels appends the labels in the members that are called after risk, or are in an object
// that is.
func (x *extractor) appendLabels(labels []string) []string {
	var space [maxLevel]byte
	tried := 0
	for at := range x.tree.nodes {
		n := &x.tree.nodes[at]
		if n.kind != '"' || n.rawLen > maxLevel+2 || tried == maxGuesses {
			continue
		}
		label := space[:0]
		plain := true
		for _, c := range bytes.TrimSpace(x.tree.text(uint32(at))) {
			switch {
			case c == '_' || c == '-':
				c = ' '
			case 'A' <= c && c <= 'Z':
				c |= 0x20
			case c >= utf8.RuneSelf:
				plain = false
			}
			label = append(label, c)
		}
		if !plain {
			label = append(label[:0], vocabulary.Fold(string(label))...)
		}
		label = append(label[:0], englishLabel(string(label))...)
		if !isLabel[string(label)] {
			continue
		}
		tried++
		if !slices.Contains(labels, string(label)) && x.isRating(uint32(at)) {
			labels = append(labels, string(label))
		}
	}
	return labels
}

// isRating reports whether a value, or an object that it is in, is called after risk.
func (x *extractor) isRating(at uint32) bool {
	for range maxGuessDepth {
		if at == 0 || slices.Contains(x.roots, at) {
			return false
		}
		if x.reader.name(x.nameOf(at)).Concepts&x.reader.bits.rated != 0 {
			return true
		}
		at = x.tree.nodes[at].parent
	}
	return false
}
