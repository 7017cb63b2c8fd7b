package receiver

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// The tests of the admin listener cover Redeliver and Replacement with a real journal.

func TestRefusalTellsWhetherItIsWhole(t *testing.T) {
	d := open(t, func(c *Config) { c.MaxBody = 1000 })
	zip := []string{"Content-Encoding", "gzip"}
	large := `{"id":1}` + strings.Repeat(" ", 1000)
	zipped := gzipped(t, `{"id":1}`)
	for name, c := range map[string]struct {
		method, path, body string
		header             []string
		cut                bool
	}{
		"not JSON":                    {"PUT", "/cities/1", `{`, nil, false},
		"no id":                       {"POST", "/cities", `{"t":"x"}`, nil, false},
		"wrong path":                  {"POST", "/countries", `{}`, nil, false},
		"too large":                   {"POST", "/cities", large, nil, true},
		"too large, for a wrong path": {"POST", "/countries", large, nil, true},
		"inflates to too much":        {"POST", "/cities", gzipped(t, large), zip, true},
		"gzip that breaks off":        {"POST", "/cities", zipped[:len(zipped)-9], zip, true},
		"unknown encoding":            {"POST", "/cities", `{"id":1}`, []string{"Content-Encoding", "br"}, true},
	} {
		before := len(d.refusals())
		d.send(c.method, c.path, c.body, c.header...)
		kept := d.refusals()[before:]
		if len(kept) != 1 || kept[0].Cut != c.cut {
			t.Errorf("%s: kept %+v, want one refusal with the expected cut", name, kept)
		}
	}
}

func TestBodyThatBreaksOffIsCut(t *testing.T) {
	d := open(t, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT /cities/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"id\":1}")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Fatal(err)
	}
	kept := d.refusals()
	if len(kept) != 1 || !kept[0].Cut || kept[0].Reason != reasonTruncated || string(kept[0].Body) != `{"id":1}` {
		t.Errorf("kept %+v, want one cut refusal with the part that came", kept)
	}
	if len(d.changes()) != 0 {
		t.Error("half a body was accepted")
	}
}

func TestNoSpaceIsAnswered(t *testing.T) {
	d := open(t, nil)
	d.err = fmt.Errorf("append: %w: 3 MiB are left", report.ErrNoRoom)
	got := d.send("PUT", "/cities/1", `{"t":1}`)
	if got.status != http.StatusServiceUnavailable || got.Reason != "no_room" || got.header.Get("Retry-After") == "" || strings.Contains(got.Detail, "MiB") {
		t.Errorf("answered %+v, want 503 with the reason no_room and Retry-After", got)
	}
}

func TestRedeliverRunsTheChecksOfItsCall(t *testing.T) {
	rec := &recorder{}
	r := receiverOn(t, rec)
	for name, c := range map[string]struct {
		refusal report.Refusal
		edited  string // "" for the kept body
		want    string // of the change, or the reason of the refusal
	}{
		"PUT":                {report.Refusal{Kind: report.Cities, Method: "PUT", ID: "LON", Body: []byte(`{`)}, `{"id":130,"code":"lon"}`, `index LON LON 130 {"id":130,"code":"lon"}`},
		"PUT as it was":      {report.Refusal{Kind: report.Cities, Method: "PUT", ID: "7", Body: []byte(`{"t":1}`)}, "", `index 7   {"t":1}`},
		"POST":               {report.Refusal{Kind: report.Advisories, Method: "POST", Position: -1}, `{"advisory":{"id":7}}`, `index 7   {"id":7}`},
		"record of a POST":   {report.Refusal{Kind: report.Advisories, Method: "POST", Position: 4, ID: strings.Repeat("x", 600)}, `{"id":8}`, `index 8   {"id":8}`},
		"DELETE":             {report.Refusal{Kind: report.Cities, Method: "DELETE", ID: "9", Cut: true}, "", `delete 9   `},
		"still no JSON":      {report.Refusal{Kind: report.Cities, Method: "PUT", ID: "1"}, `{]`, reasonJSON},
		"still no id":        {report.Refusal{Kind: report.Cities, Method: "POST"}, `{}`, reasonNoID},
		"one without an id":  {report.Refusal{Kind: report.Cities, Method: "POST"}, `[{"id":1},{}]`, reasonNoID},
		"null in it":         {report.Refusal{Kind: report.Cities, Method: "PUT", ID: "1", Body: []byte(`{"city":null}`)}, "", reasonNoRecord},
		"nothing in it":      {report.Refusal{Kind: report.Cities, Method: "POST"}, `[]`, reasonNoRecord},
		"a path too long":    {report.Refusal{Kind: report.Cities, Method: "PUT", ID: strings.Repeat("x", 600)}, `{}`, reasonIDTooLong},
		"cut":                {report.Refusal{Kind: report.Cities, Method: "PUT", ID: "1", Body: []byte(`{}`), Cut: true}, "", reasonCut},
		"cut, all of it now": {report.Refusal{Kind: report.Cities, Method: "PUT", ID: "1", Body: []byte(`{`), Cut: true}, `{"t":1}`, `index 1   {"t":1}`},
		"wrong path":         {report.Refusal{Kind: report.Cities, Method: "PUT", ID: "", Reason: reasonPath, Body: []byte(`{}`)}, `{"id":1}`, reasonPath},
		"wrong method":       {report.Refusal{Kind: report.Cities, Method: "PATCH", Reason: reasonMethod, Body: []byte(`{}`)}, "", reasonMethod},
		"a replay":           {report.Refusal{Kind: report.Cities, Method: "DELETE", ID: "1", Reason: reasonIDReused}, "", reasonIDReused},
		"a replay, edited":   {report.Refusal{Kind: report.Cities, Method: "PUT", ID: "1", Reason: reasonIDReused}, `{}`, reasonIDReused},
	} {
		rec.deliveries = nil
		c.refusal.Seq = 77
		var edited []byte
		if c.edited != "" {
			edited = []byte(c.edited)
		}
		_, err := r.Redeliver(t.Context(), c.refusal, edited)
		got := ""
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			got = refused.Reason
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, change := range rec.changes() {
			got += fmt.Sprintf("%s %s %s %s %s", change.Op, change.ID, change.Code, change.OwnID, change.Body)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if len(rec.deliveries) == 1 && rec.deliveries[0].RetryOf != 77 {
			t.Errorf("%s: not passed on as a retry: %+v", name, rec.deliveries[0])
		}
		if len(rec.refusals()) > 0 {
			t.Errorf("%s: another refusal is kept", name)
		}
	}
}

// TestRetryWithoutAPlaceIsRefused, and the operator is told what to do instead.
func TestRetryWithoutAPlaceIsRefused(t *testing.T) {
	rec := &recorder{err: fmt.Errorf("retry: %w", report.ErrPlaceForgotten)}
	_, err := receiverOn(t, rec).Redeliver(t.Context(), report.Refusal{Seq: 1, Kind: report.Cities, Method: "PUT", ID: "1", Body: []byte(`{"t":1}`)}, nil)
	if refused, ok := errors.AsType[*RefusedError](err); !ok || refused.Reason != reasonPlaceForgotten {
		t.Errorf("%v, want %s", err, reasonPlaceForgotten)
	}
}

// TestMayRetryIsWhatRedeliverDoes compares MayRetry with Redeliver.
func TestMayRetryIsWhatRedeliverDoes(t *testing.T) {
	r := receiverOn(t, &recorder{})
	for _, refusal := range []report.Refusal{
		{Method: "POST", Body: []byte(`{"t":"x"}`), Reason: reasonNoID}, // --ids may have been changed since
		{Method: "POST", Body: []byte(`{`), Reason: reasonJSON},
		{Method: "POST", Body: []byte(`{"id":"` + strings.Repeat("x", 600) + `"}`), Reason: reasonIDTooLong},
		{Method: "PUT", Body: []byte(`{"id":1}`), ID: strings.Repeat("x", 600), Reason: reasonIDTooLong},
		{Method: "DELETE", ID: strings.Repeat("x", 600), Reason: reasonIDTooLong},
		{Method: "PUT", Body: []byte(`{}`), ID: "1", Cut: true, Reason: reasonTooLarge},
		{Method: "DELETE", ID: "1", Cut: true, Reason: reasonAmbiguous},
		{Method: "PUT", Body: []byte(`{"t":1}`), ID: "1", Reason: reasonType},
		{Method: "PATCH", Body: []byte(`{}`), Reason: reasonMethod},
		{Method: "PUT", Body: []byte(`{}`), Reason: reasonPath},
		{Method: "PUT", Body: []byte(`{}`), ID: "1", Reason: reasonIDReused},
	} {
		refusal.Kind = report.Advisories
		_, asIs := r.Redeliver(t.Context(), refusal, nil)
		_, edited := r.Redeliver(t.Context(), refusal, []byte(`{"id":"1","t":2}`))
		got := r.MayRetry(refusal)
		if got == report.RetryNever && edited == nil || got != report.RetryNever && edited != nil ||
			got == report.RetryEdited && asIs == nil || got == report.RetryAsIs && asIs != nil && refusal.Reason != reasonNoID {
			t.Errorf("%s %s: MayRetry says %s; Redeliver as it is: %v; edited: %v", refusal.Method, refusal.Reason, got, asIs, edited)
		}
	}
}

func TestReplacementIsForItsDocument(t *testing.T) {
	r := receiverOn(t, &recorder{})
	key := report.Key{Kind: report.Cities, ID: "LON"}
	c, err := r.Replacement(t.Context(), key, []byte(` {"city":{"id":130,"code":"LON"}} `))
	if err != nil || c.Key != key || c.Op != report.Index || c.Code != "LON" || c.OwnID != "" || string(c.Body) != `{"id":130,"code":"LON"}` {
		t.Errorf("Replacement returned %+v, %v; want a change for the document", c, err)
	}
	for _, wrong := range []string{``, `{`, `null`, `{"city":null}`, `{"a":1,"a":1}`} {
		if _, err := r.Replacement(t.Context(), key, []byte(wrong)); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

func receiverOn(t *testing.T, journal Journal) *Receiver {
	t.Helper()
	r, err := New(DefaultConfig(), journal, time.Now, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
