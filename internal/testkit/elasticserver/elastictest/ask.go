package elastictest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Ask sends a request with a JSON body, which may be empty, and returns the status and
// the body of the answer. It fails the test if there is no answer.
func Ask(t testing.TB, method, url, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: the answer (status %d) broke off: %v", method, url, res.StatusCode, err)
	}
	return res.StatusCode, answer
}
