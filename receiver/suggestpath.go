package receiver

import (
	"fmt"
	"slices"
	"strings"

	"riskdex/report"
)

// suggestPath returns a sentence, after a space, with the path that seems to be meant by a
// wrong one; "" where none does. Under a wrong prefix the sentence does not depend on the
// rest of the path: the publisher gets it for every delivery.
func (r *Receiver) suggestPath(path string) string {
	segments := segmentsOf(path)
	for i := len(segments) - 1; i >= max(0, len(segments)-2); i-- {
		kind := collectionLike(segments[i])
		switch {
		case kind == "":
		case slices.Equal(segments[:i], segmentsOf(r.prefix)):
			right := strings.Join(append([]string{r.prefix, string(kind)}, segments[i+1:]...), "/")
			return fmt.Sprintf(" Was %s meant?", shortened(right))
		default:
			return " What stands before the collection is wrong."
		}
	}
	return ""
}

// segmentsOf returns the segments of a path that are not empty.
func segmentsOf(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
}

// collectionLike returns the kind whose collection a segment names in a different case, in the
// singular, or with different separators.
func collectionLike(segment string) report.Kind {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", "%20", "").Replace(strings.ToLower(s))
	}
	for _, kind := range report.Kinds() {
		name := plain(string(kind))
		singular := strings.TrimSuffix(name, "s")
		if stem, ok := strings.CutSuffix(name, "ies"); ok {
			singular = stem + "y"
		}
		if got := plain(segment); got == name || got == singular {
			return kind
		}
	}
	return ""
}
