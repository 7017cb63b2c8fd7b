package mappings

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/search"
)

func parseQuery(data []byte) ([]byte, error) {
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
	return appendCompact(nil, data), nil
}

// Body returns the body of a _search request, as [search.Bodies.Body] makes it of search.json or
// complete.json.
func (s *Set) Body(q search.Query) ([]byte, error) { return s.bodies.Body(q) }

// FileBody is Body for apps that fill the placeholders of the file themselves.
func (s *Set) FileBody(q search.Query) ([]byte, error) { return s.bodies.FileBody(q) }

// Ask makes a search with send, as [search.Bodies.Ask] does.
func (s *Set) Ask(q search.Query, send func(body []byte) (search.Result, error)) (search.Result, error) {
	return s.bodies.Ask(q, send)
}

// SearchBody is Body for words as a person types them.
func (s *Set) SearchBody(words string, q search.Query) ([]byte, error) {
	q.Words = words
	return s.Body(q)
}

// CompleteBody is Body for what a person has typed so far.
func (s *Set) CompleteBody(prefix string, q search.Query) ([]byte, error) {
	q.Words, q.Complete = prefix, true
	return s.Body(q)
}
