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
)

// maxCharacters bounds what a search costs: every word is looked up in many fields.
const maxCharacters = 500

// The errors about words that cannot be searched for.
var (
	ErrNoWords      = errors.New("there is nothing to search for: give at least one word")
	ErrTooManyWords = fmt.Errorf("there is too much to search for: give at most %d characters", maxCharacters)
)

// queryFile is search.json or complete.json with its placeholders still in it:
// the strings "{{words}}", "{{filter}}", "{{size}}" and "{{from}}".
type queryFile []byte

func parseQuery(data []byte) (queryFile, error) {
	var checked jsontext.Value
	if err := decodeStrict(data, &checked); err != nil {
		return nil, err
	}
	if checked.Kind() != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	if !bytes.Contains(data, []byte(`"{{words}}"`)) {
		return nil, errors.New(`the placeholder "{{words}}" is nowhere in it`)
	}
	return queryFile(appendCompact(nil, data)), nil
}

// SearchBody returns the body of a _search request for words as a person types them: the
// name or code of a place, or what a report is about. It fails with ErrNoWords,
// ErrTooManyWords, or an error that says which option is invalid.
func (s *Set) SearchBody(words string, options SearchOptions) ([]byte, error) {
	if err := s.threats.check(options.Threats); err != nil {
		return nil, err
	}
	return s.search.body(words, options, 10)
}

// CompleteBody returns the body of a _search request for what a person has
// typed so far: the start of a name or a code. Its hits have no highlights and
// few fields. It fails as SearchBody does.
func (s *Set) CompleteBody(prefix string, options SearchOptions) ([]byte, error) {
	if err := s.threats.check(options.Threats); err != nil {
		return nil, err
	}
	return s.complete.body(prefix, options, 8)
}

func (q queryFile) body(words string, options SearchOptions, usualSize int) ([]byte, error) {
	words = strings.Join(strings.Fields(strings.ToValidUTF8(words, " ")), " ")
	switch {
	case words == "":
		return nil, ErrNoWords
	case utf8.RuneCountInString(words) > maxCharacters:
		return nil, ErrTooManyWords
	}
	quoted, err := jsontext.AppendQuote(nil, words)
	if err != nil {
		return nil, err
	}
	if options.Size == 0 {
		options.Size = usualSize
	}
	filters, err := options.filters()
	if err != nil {
		return nil, err
	}
	filter, err := json.Marshal(filters, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	body := []byte(strings.NewReplacer(
		`"{{words}}"`, string(quoted),
		`"{{filter}}"`, string(filter),
		`"{{size}}"`, strconv.Itoa(options.Size),
		`"{{from}}"`, strconv.Itoa(options.From),
	).Replace(string(q)))
	if !options.NearestFirst {
		return body, nil
	}
	order, err := options.Near.nearestFirst()
	if err != nil {
		return nil, err
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	if members["sort"], err = json.Marshal(order, json.Deterministic(true)); err != nil {
		return nil, err
	}
	return json.Marshal(members, json.Deterministic(true))
}
