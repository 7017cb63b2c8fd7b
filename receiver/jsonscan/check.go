package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of Elasticsearch 8.19 on valid JSON: the stream read constraints of its parser
// (XContentConstraintDefaults and Jackson's own). A record stands one level deep in the
// document that is sent.
const (
	maxDepth       = 1000 - 1
	maxDigits      = 1000
	maxNameBytes   = 50_000
	maxStringBytes = 50_000_000
)

// Limits of riskdex itself, because members and elements take many times the memory of
// their bytes. No report is near them.
const (
	MaxMembers  = 100_000   // of one object
	MaxElements = 1_000_000 // of one array
)

// maxPointerShown bounds how many bytes of a JSON pointer an error repeats.
const maxPointerShown = 200

// Check returns nil when body is exactly one JSON value that Elasticsearch accepts: valid
// UTF-8, no duplicate members, nothing after the value, and within the limits above.
// Go's encoding/json lets the first three pass. The error is a sentence that says what is
// wrong and where.
func Check(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return errors.New("the body is empty, where a JSON value is expected")
	}
	if !utf8.Valid(body) {
		return fmt.Errorf("the body is not valid UTF-8, first at byte %d", firstInvalid(body))
	}
	// The bytes are known to be valid now. What AllowInvalidUTF8 lets pass beyond that is
	// half a surrogate pair in an escape (`\ud800`), which Elasticsearch accepts.
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowInvalidUTF8(true))
	for {
		start := dec.InputOffset()
		token, err := dec.ReadToken()
		if err != nil {
			return syntaxError(err, FirstByte(body), len(body))
		}
		depth := dec.StackDepth()
		if depth > maxDepth {
			return fmt.Errorf("the value is nested deeper than %d levels, at byte %d", maxDepth, start)
		}
		if err := checkCount(dec.StackIndex(depth)); err != nil {
			return fmt.Errorf("%w, at byte %d", err, start)
		}
		if length := dec.InputOffset() - start; length > maxDigits {
			if err := checkLength(dec, token, body[start:start+length]); err != nil {
				return fmt.Errorf("%w, at byte %d", err, start)
			}
		}
		if depth == 0 {
			break
		}
	}
	end := dec.InputOffset()
	if _, err := dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("there is more after the JSON value, at byte %d", end)
	}
	return nil
}

// checkCount bounds an object or array as far as it has been read. The decoder counts the
// names and the values of an object separately.
func checkCount(kind jsontext.Kind, length int64) error {
	switch {
	case kind == '{' && length > 2*MaxMembers:
		return fmt.Errorf("an object has more than %d members", MaxMembers)
	case kind == '[' && length > MaxElements:
		return fmt.Errorf("an array has more than %d elements", MaxElements)
	}
	return nil
}

func firstInvalid(body []byte) int {
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(body)
}

// checkLength bounds the token that dec has just read. raw is the token with the white
// space and punctuation before it, so it is never shorter than the token. Unescaping is
// left to the few tokens whose raw form exceeds a limit.
func checkLength(dec *jsontext.Decoder, token jsontext.Token, raw []byte) error {
	if token.Kind() == '"' && len(raw) <= maxNameBytes {
		return nil
	}
	switch token.Kind() {
	case '0':
		text := token.String()
		digits := 0
		for _, c := range []byte(text) {
			if '0' <= c && c <= '9' {
				digits++
			}
		}
		if digits > maxDigits {
			return fmt.Errorf("a number has more than %d digits", maxDigits)
		}
	case '"':
		size := textBytes(token, raw)
		kind, length := dec.StackIndex(dec.StackDepth())
		if isName := kind == '{' && length%2 == 1; isName && size > maxNameBytes {
			return fmt.Errorf("a member's name is longer than %d bytes", maxNameBytes)
		}
		if size > maxStringBytes {
			return fmt.Errorf("a text is longer than %d bytes", maxStringBytes)
		}
	}
	return nil
}

// textBytes returns the length of a string once it is unescaped. A string without escapes
// is not copied for that: it may be most of a body.
func textBytes(token jsontext.Token, raw []byte) int {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return len(token.String())
	}
	return len(raw) - bytes.IndexByte(raw, '"') - len(`""`)
}

// syntaxError says in words what the decoder found.
func syntaxError(err error, first byte, size int) error {
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if syntactic.ByteOffset >= int64(size) && errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the body ends in the middle of a JSON value, after byte %d", size)
	}
	where := string(syntactic.JSONPointer)
	if where == "" && !strings.ContainsRune(`{["`, rune(first)) {
		// The decoder would speak of a literal that the first letter made it expect.
		return errors.New("the body does not begin like JSON")
	}
	cause := syntactic.Err
	if errors.Is(err, jsontext.ErrDuplicateName) {
		cause = errors.New("a member appears twice in the same object")
	}
	if len(where) > maxPointerShown {
		where = where[:maxPointerShown] + "…"
	}
	if where != "" {
		where = fmt.Sprintf(" within %q", where)
	}
	return fmt.Errorf("%w, at byte %d%s", cause, syntactic.ByteOffset, where)
}
