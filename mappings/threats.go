package mappings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// threatsFile is threats.json: the words of travel risk.
type threatsFile struct {
	About     string            `json:"about"`
	Threats   map[string]threat `json:"threats"`
	Spellings []string          `json:"spellings"`
}

// threat is one category of risk, called by its name in the field `threats`.
type threat struct {
	Labels []string `json:"labels"` // what a publisher's own ratings call it, separated by commas
	Words  []string `json:"words"`  // rules of synonyms, as Elasticsearch takes them
}

// ambiguous marks a word of a rule that has other meanings too.
const ambiguous = "~"

func parseThreats(data []byte) (*threatsFile, error) {
	f := new(threatsFile)
	if err := decodeStrict(data, f); err != nil {
		return nil, err
	}
	if len(f.Threats) == 0 {
		return nil, errors.New(`"threats" is missing`)
	}
	var wrong Mistakes
	check := func(at jsontext.Pointer, rule string) {
		if err := checkRule(rule); err != nil {
			wrong.add(data, at, "%q: %v", rule, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Threats)) {
		at := jsontext.Pointer("/threats").AppendToken(name)
		if name == "" || len(name) > maxKeyword || strings.ContainsFunc(name, notInName) {
			wrong.add(data, at, "threats: %q is not a name for a threat: use small letters, digits and _", name)
		}
		for i, rule := range f.Threats[name].Words {
			check(at.AppendToken("words").AppendToken(fmt.Sprint(i)), rule)
		}
	}
	for i, rule := range f.Spellings {
		check(jsontext.Pointer("/spellings").AppendToken(fmt.Sprint(i)), rule)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return f, nil
}

func notInName(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' }

// checkRule returns an error if Elasticsearch would refuse a rule, and with it every new
// index, or if the rule could find nothing.
func checkRule(rule string) error {
	if strings.Count(rule, "=>") > 1 {
		return errors.New("a rule has one => at most")
	}
	for phrase := range strings.SplitSeq(strings.Replace(rule, "=>", ",", 1), ",") {
		if strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(phrase), ambiguous)) == "" {
			return errors.New("a word is missing before or after a comma")
		}
		if strings.ContainsAny(phrase, "\\#\n\r") {
			return errors.New(`a rule has no \, no # and no line breaks`)
		}
		for word := range strings.FieldsSeq(phrase) {
			if isStopWord(strings.ToLower(word)) {
				return fmt.Errorf("leave out %q: it counts for nothing in a search, and Elasticsearch refuses it here", word)
			}
		}
	}
	return nil
}

// Threats returns the names of threats.json, in order.
func (s *Set) Threats() []string { return slices.Sorted(maps.Keys(s.threats.Threats)) }

// rules returns every rule as Elasticsearch takes it, without the marks for ambiguous
// words, and without what searches know only a part of.
func (f *threatsFile) rules() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(f.Threats)) {
		all = append(all, f.Threats[name].Words...)
	}
	all = append(all, f.Spellings...)
	for i, rule := range all {
		all[i] = strings.ReplaceAll(searchable(rule), ambiguous, "")
	}
	return slices.DeleteFunc(all, func(rule string) bool { return rule == "" })
}

// searchable returns a rule without the words that lose a part in a search: of sit-in, only sit
// would be left, and everything with that word would be found. Reports are read for them all the
// same. It returns "" if nothing is left to find, or to find it by.
func searchable(rule string) string {
	sides := strings.SplitN(rule, "=>", 2)
	for i, side := range sides {
		phrases := slices.DeleteFunc(strings.Split(side, ","), func(phrase string) bool {
			return slices.ContainsFunc(strings.FieldsFunc(phrase, func(r rune) bool { return r == ' ' || r == '-' }), func(word string) bool {
				return isStopWord(strings.ToLower(word))
			})
		})
		if len(phrases) == 0 {
			return ""
		}
		sides[i] = strings.Join(phrases, ",")
	}
	return strings.Join(sides, "=>")
}

// names returns, for each threat, a rule that makes its name of any of its words.
func (f *threatsFile) names() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(f.Threats)) {
		var words []string
		for _, rule := range f.Threats[name].Words {
			from, _, _ := strings.Cut(strings.ReplaceAll(searchable(rule), ambiguous, ""), "=>")
			for word := range strings.SplitSeq(from, ",") {
				if word = strings.TrimSpace(word); word != "" {
					words = append(words, word)
				}
			}
		}
		if len(words) == 0 {
			continue
		}
		slices.Sort(words)
		all = append(all, strings.Join(slices.Compact(words), ", ")+" => "+name)
	}
	return all
}

// isStopWord reports whether a word is one of _english_, the stop words of Elasticsearch,
// which searches leave out.
func isStopWord(word string) bool {
	switch word {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
		"on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with":
		return true
	}
	return false
}
