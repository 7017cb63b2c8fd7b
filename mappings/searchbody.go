package mappings

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxCharacters is how much of what somebody types is searched for. Every word is looked up in
// many fields, and where no spaces are written, every sign is a word. Elasticsearch with 1 GiB
// refuses a search for 200 of them, and one with less memory for each processor does so earlier.
const maxCharacters = 100

// ErrNoWords is returned where there is nothing to search for.
var ErrNoWords = errors.New("there is nothing to search for: give at least one word")

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
// name or code of a place, or what a report is about. Only the first 100 characters count. It
// fails with ErrNoWords, or an error that says which option is invalid.
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

// beginning returns the part of words that is searched for.
func beginning(words string) string {
	n := 0
	for i := range words {
		if n++; n > maxCharacters {
			return words[:i]
		}
	}
	return words
}

func (q queryFile) body(words string, options SearchOptions, usualSize int) ([]byte, error) {
	words = beginning(strings.Join(strings.Fields(strings.ToValidUTF8(words, " ")), " "))
	if words == "" {
		return nil, ErrNoWords
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
