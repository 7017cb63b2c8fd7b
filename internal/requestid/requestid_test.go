package requestid

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve returns the id in the answer to a request, and what is logged about it.
func serve(t *testing.T, sent ...string) (id, logged string) {
	t.Helper()
	var out bytes.Buffer
	log := slog.New(InLog(slog.NewTextHandler(&out, nil))).With("a", 1)
	h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.InfoContext(r.Context(), "answered")
		w.WriteHeader(http.StatusAccepted)
	}), func() string { return "new" })
	req := httptest.NewRequest(http.MethodPut, "/cities/1", nil)
	for _, id := range sent {
		req.Header.Add(Header, id)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Header().Get(Header), out.String()
}

func TestRequestKeepsItsID(t *testing.T) {
	for _, sent := range []string{"7b3e6f0a-1c0d-4d8e-9a55-2f3c7b1d9e10", "Root=1-67891233-abcdef012345678912345678", "a/B:7~x@y", strings.Repeat("x", longest)} {
		id, logged := serve(t, sent)
		if id != sent {
			t.Errorf("%q became %q", sent, id)
		}
		if !strings.Contains(logged, "request_id="+id) && !strings.Contains(logged, `request_id="`+id+`"`) {
			t.Errorf("%q is not in the log: %s", id, logged)
		}
	}
}

func TestRequestGetsAnID(t *testing.T) {
	for name, sent := range map[string][]string{
		"none": nil, "empty": {""}, "too long": {strings.Repeat("x", longest+1)}, "a line break": {"a\nb"}, "a space": {"a b"}, "a quote": {`a"b`}, "no ASCII": {"é"},
	} {
		if id, logged := serve(t, sent...); id != "new" || !strings.Contains(logged, "request_id=new") {
			t.Errorf("%s: id %q, log %s", name, id, logged)
		}
	}
}

func TestLinesOutsideOfRequestsHaveNoID(t *testing.T) {
	var out bytes.Buffer
	slog.New(InLog(slog.NewTextHandler(&out, nil))).WithGroup("g").Info("started")
	if strings.Contains(out.String(), "request_id") {
		t.Error(out.String())
	}
}
