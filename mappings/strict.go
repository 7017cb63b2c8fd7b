package mappings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxMistakes bounds how many mistakes are reported for one file.
const maxMistakes = 50

// decodeStrict decodes JSON, and refuses unknown and repeated names. Its error is
// [Mistakes] with everything that is wrong; text that is not JSON is one mistake.
//
// To find the next mistake, it blanks out the member or the element that has this one, and
// decodes again.
func decodeStrict(data []byte, v any) error {
	var wrong Mistakes
	if err := syntaxError(data); err != nil {
		return Mistakes{newMistake(data, err)}
	}
	rest := bytes.Clone(data)
	for len(wrong) < maxMistakes {
		err := json.Unmarshal(rest, v, json.RejectUnknownMembers(true))
		if err == nil {
			break
		}
		wrong = append(wrong, newMistake(data, err))
		if !blank(rest, errorOffset(err)) {
			break
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

func syntaxError(data []byte) error {
	var value jsontext.Value
	return json.Unmarshal(data, &value, jsontext.AllowDuplicateNames(true))
}

// errorOffset returns the offset of the name or the value that err is about.
func errorOffset(err error) int64 {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return semantic.ByteOffset
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return syntactic.ByteOffset
	}
	return 0
}

func newMistake(data []byte, err error) Mistake {
	return Mistake{Line: lineAt(data, min(errorOffset(err), int64(len(data)))), Reason: mistakeReason(err)}
}

// mistakeReason describes err in terms of JSON, not of Go.
func mistakeReason(err error) string {
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Sprintf("%q occurs twice", syntactic.JSONPointer.LastToken())
		}
		return "this is not JSON: " + syntactic.Err.Error()
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return err.Error()
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("%q is not a known name", semantic.JSONPointer.LastToken())
	case semantic.JSONKind == '0' && semantic.GoType.Kind() == reflect.Int:
		return fmt.Sprintf("%s: a whole number belongs here", semantic.JSONPointer)
	case semantic.Err != nil:
		return fmt.Sprintf("%s: %v", semantic.JSONPointer, semantic.Err)
	case semantic.JSONPointer == "":
		return "an object belongs in the file, not " + found(semantic.JSONKind)
	}
	return fmt.Sprintf("%s: %s belongs here, not %s", semantic.JSONPointer, wanted(semantic.GoType), found(semantic.JSONKind))
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "a whole number"
	}
	return "an object"
}

func found(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	}
	return kind.String() // null, true, false
}

// blank overwrites with spaces the innermost member or element around offset, and a comma
// beside it, so that data stays valid JSON with the same lines. It returns false if there
// is none.
func blank(data []byte, offset int64) bool {
	start, end := enclosing(data, int(offset))
	if end == 0 {
		return false
	}
	if next := len(data) - len(bytes.TrimLeft(data[end:], " \t\r\n")); data[next] == ',' {
		end = next + 1
	} else if before := bytes.TrimRight(data[:start], " \t\r\n"); before[len(before)-1] == ',' {
		start = len(before) - 1
	}
	for i := start; i < end; i++ {
		if data[i] != '\n' {
			data[i] = ' '
		}
	}
	return true
}

// enclosing returns where the innermost member or element around offset is in a valid JSON
// value. end is 0 if there is none.
func enclosing(data []byte, offset int) (start, end int) {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	open, err := d.ReadToken()
	if err != nil || open.Kind() != '{' && open.Kind() != '[' {
		return 0, 0
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		start := tokenStart(data, d)
		if open.Kind() == '{' {
			if _, err := d.ReadToken(); err != nil {
				return 0, 0
			}
		}
		value := tokenStart(data, d)
		if err := d.SkipValue(); err != nil {
			return 0, 0
		}
		end := int(d.InputOffset())
		if offset < start || offset >= end {
			continue
		}
		if offset > value {
			if s, e := enclosing(data[value:end], offset-value); e > 0 {
				return value + s, value + e
			}
		}
		return start, end
	}
	return 0, 0
}

// tokenStart returns where the next token starts.
func tokenStart(data []byte, d *jsontext.Decoder) int {
	at := int(d.InputOffset())
	return at + len(data[at:]) - len(bytes.TrimLeft(data[at:], " \t\r\n,:"))
}
