package admin

import (
	"unicode/utf8"
)

// Content is a body in an answer: a text if it is valid UTF-8, so that people can read it, and
// base64 otherwise. In both forms it is complete.
type Content struct {
	Body       string `json:"body,omitempty"`
	BodyBase64 []byte `json:"body_base64,omitempty"`
}

func contentOf(body []byte) Content {
	if utf8.Valid(body) {
		return Content{Body: string(body)}
	}
	return Content{BodyBase64: body}
}

// Raw returns the body as it was sent.
func (c Content) Raw() []byte {
	if c.BodyBase64 != nil {
		return c.BodyBase64
	}
	return []byte(c.Body)
}
