package mappings

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// maxWords bounds what a search costs: every word is looked up in many fields.
const maxWords = 500

// Why words cannot be searched for.
var (
	ErrNoWords      = errors.New("there is nothing to search for: give at least one word")
	ErrTooManyWords = fmt.Errorf("there is too much to search for: give at most %d characters", maxWords)
)

// SearchOptions narrows a search. The zero value finds the ten best hits of
// every kind.
type SearchOptions struct {
	Kinds []report.Kind // only these; empty means all
	Size  int           // hits to return; 0 means 10
	From  int           // hits to pass over
}

// searchFile is search.json with its placeholders still in it: the strings
// "{{words}}", "{{filter}}", "{{size}}" and "{{from}}".
type searchFile []byte

func parseSearch(data []byte) (searchFile, error) {
	var checked jsontext.Value
	if err := decodeStrict(data, &checked); err != nil {
		return nil, err
	}
	if checked.Kind() != '{' {
		return nil, errors.New("it is no JSON object")
	}
	if !bytes.Contains(data, []byte(`"{{words}}"`)) {
		return nil, errors.New(`the placeholder "{{words}}" is nowhere in it`)
	}
	return searchFile(appendCompact(nil, data)), nil
}

// SearchBody returns the body of a _search request for words as a person types
// them: the name or code of a place, or what a report is about. It fails with
// ErrNoWords or ErrTooManyWords.
func (s *Set) SearchBody(words string, options SearchOptions) ([]byte, error) {
	words = strings.Join(strings.Fields(strings.ToValidUTF8(words, " ")), " ")
	switch {
	case words == "":
		return nil, ErrNoWords
	case utf8.RuneCountInString(words) > maxWords:
		return nil, ErrTooManyWords
	}
	quoted, err := jsontext.AppendQuote(nil, words)
	if err != nil {
		return nil, err
	}
	filter := []byte("[]")
	if len(options.Kinds) > 0 {
		terms := map[string]map[string][]report.Kind{"terms": {"kind": options.Kinds}}
		if filter, err = json.Marshal([]any{terms}); err != nil {
			return nil, err
		}
	}
	size := options.Size
	if size == 0 {
		size = 10
	}
	return []byte(strings.NewReplacer(
		`"{{words}}"`, string(quoted),
		`"{{filter}}"`, string(filter),
		`"{{size}}"`, strconv.Itoa(size),
		`"{{from}}"`, strconv.Itoa(options.From),
	).Replace(string(s.search))), nil
}
