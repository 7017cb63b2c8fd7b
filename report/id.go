package report

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ID is the identity of a document within its kind, as text: the JSON number
// 130 and the path segment `130` are the same ID. It is also the `_id` of the
// document in Elasticsearch.
type ID string

// MaxIDBytes is the longest `_id` that Elasticsearch takes. One that is longer
// makes it refuse the whole bulk request, not only the one item.
const MaxIDBytes = 512

// Why a text is no ID.
var (
	ErrIDEmpty   = errors.New("the id is empty")
	ErrIDTooLong = fmt.Errorf("the id is longer than %d bytes, the most that Elasticsearch takes", MaxIDBytes)
	ErrIDNotUTF8 = errors.New("the id is not valid UTF-8, which Elasticsearch would not take")
)

// ParseID returns s as an ID, or one of ErrIDEmpty, ErrIDTooLong and
// ErrIDNotUTF8.
func ParseID(s string) (ID, error) {
	switch {
	case s == "":
		return "", ErrIDEmpty
	case len(s) > MaxIDBytes:
		return "", ErrIDTooLong
	case !utf8.ValidString(s):
		return "", ErrIDNotUTF8
	}
	return ID(s), nil
}

// CodeOf returns a text as the code of a city, which has three letters, in upper case, and
// nothing where it is none. What is not three letters is some other kind of code, which
// must not become a name for the city.
func CodeOf(text string) string {
	if code := strings.ToUpper(text); len(text) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return code
	}
	return ""
}
