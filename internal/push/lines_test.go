package push

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func collect(seq iter.Seq2[Request, error]) (all []string, err error) {
	for r, wrong := range seq {
		if wrong != nil {
			return all, wrong
		}
		all = append(all, fmt.Sprintf("%s %s %s", r.Method, r.Path, r.Body))
	}
	return all, nil
}

func TestFromLines(t *testing.T) {
	long := `{"text":"` + strings.Repeat("x", 3<<20) + `"}`
	in := "{\"kind\":\"cities\",\"id\":\"a/b\",\"code\":\"LON\",\"record\":{\"a\": 1}}\n\n" +
		"{\"kind\":\"advisories\",\"id\":\"7\",\"record\":" + long + "}\r\n" +
		`{"kind":"cities","id":"2","code":"PAR","record":{"code":"par"}}` + "\n" +
		`{"kind":"cities","id":"4","code":"LON","record":{"code":"GB-LND","airports":["LON"]}}` + "\n" +
		`{"kind":"cities","id":"140","record":{"id":999,"a":1}}` + "\n" +
		`{"kind":"cities","id":"3","code":"ROM","record":{}}` + "\n" +
		`{"kind":"special-reports","id":"é","record":{}}`
	got, err := collect(FromLines(iotest.HalfReader(strings.NewReader(in)), "x"))
	want := []string{`PUT /cities/a%2Fb {"code":"LON","a":1}`, `PUT /cities/a%2Fb {"a": 1}`, "PUT /advisories/7 " + long, `PUT /cities/2 {"code":"par"}`,
		`PUT /cities/4 {"code":"LON","airports":["LON"]}`, `PUT /cities/4 {"code":"GB-LND","airports":["LON"]}`, `PUT /cities/140 {"a":1}`, `PUT /cities/140 {"id":999,"a":1}`, `PUT /cities/3 {"code":"ROM"}`, "PUT /cities/3 {}", "PUT /special-reports/%C3%A9 {}"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%.300q, %v", got, err)
	}
	if got, err := collect(FromLines(strings.NewReader(""), "x")); len(got) != 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFromLinesNamesTheLineThatIsNone(t *testing.T) {
	const good = `{"kind":"cities","id":"1","record":{}}` + "\n"
	for _, in := range []string{good + good[:20], good + "\ufeffx\n" + good, good + "[]\n"} {
		got, err := collect(FromLines(strings.NewReader(in), "cut.jsonl"))
		if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "line 2 of cut.jsonl") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	broken := errors.New("the disk is gone")
	if got, err := collect(FromLines(io.MultiReader(strings.NewReader(good), iotest.ErrReader(broken)), "x")); len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLinesAreNotKept pushes more than may be in memory at once.
func TestLinesAreNotKept(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		problem(w, http.StatusUnprocessableEntity, "no", "it is refused")
	}))
	t.Cleanup(refuses.Close)
	p, _ := pusher(refuses.URL)
	line := `{"kind":"cities","id":"1","record":{"text":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n"
	const lines = 300
	var parts []io.Reader
	for range lines {
		parts = append(parts, strings.NewReader(line))
	}
	var most uint64
	p.Progress = func(done, total int, _ int64) {
		if done%50 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	sum, err := p.RunSeq(t.Context(), 0, FromLines(io.MultiReader(parts...), "x"))
	if err != nil || sum.Sent != lines || sum.FailedTotal != lines || len(sum.Failed) != lines || most > 64<<20 {
		t.Errorf("%d sent, %d failed, %v; the heap had %d MiB", sum.Sent, sum.FailedTotal, err, most>>20)
	}
}
