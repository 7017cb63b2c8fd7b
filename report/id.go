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

// MaxIDBytes is the length of the longest `_id` that Elasticsearch accepts. A longer one
// makes it refuse the whole bulk request, not only the one item.
const MaxIDBytes = 512

// The errors of ParseID.
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

// CodeOf returns the one form in which the code of a city is kept and compared, three letters in
// upper case, and an empty string if text is none. Anything else is another kind of code, which
// must not identify a city.
func CodeOf(text string) string {
	if len(text) != 3 || strings.Trim(text, asciiLetters) != "" {
		return ""
	}
	return strings.ToUpper(text)
}

const asciiLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
