package elastic

import "testing"

func TestResponseError(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"error":{"type":"x_exception","reason":"why","root_cause":[]},"status":400}`, "Elasticsearch answered 400 x_exception: why"},
		{`{"error":"alias [a] missing","status":404}`, "Elasticsearch answered 400: alias [a] missing"},
		{`<html>Bad Gateway`, "Elasticsearch answered 400: <html>Bad Gateway"},
		{`{}`, "Elasticsearch answered 400: {}"},
		{``, "Elasticsearch answered 400: "},
	} {
		if got := NewResponseError(400, []byte(c.body)).Error(); got != c.want {
			t.Errorf("%s is %q, want %q", c.body, got, c.want)
		}
	}
}
