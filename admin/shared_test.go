package admin_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/report"
)

// oneOfTwo is process "a 1". Process "b 2" shares its journal, and has locked cities.
func oneOfTwo(rebuilder admin.Rebuilder) http.Handler {
	stats := report.Stats{Kinds: map[report.Kind]report.KindStats{report.Cities: {Holder: "b 2"}}, Processes: []string{"a 1", "b 2"}}
	return admin.New(admin.Parts{
		Health:    admin.Health{CanAccept: func() error { return nil }, ElasticsearchUp: func() bool { return true }},
		Rebuilder: rebuilder, Log: slog.New(slog.DiscardHandler),
		Status: admin.StatusParts{
			Journal: sums(stats), Now: time.Now, Process: "a 1", Deliveries: new(admin.Deliveries),
			Waiting: func() []report.Waiting {
				return []report.Waiting{{Kind: report.Advisories, Index: "advisories", Reason: "overloaded"}}
			},
		},
	})
}

// rebuilding records the rebuilds that were started.
type rebuilding struct{ started *[]report.Kind }

func (r rebuilding) Rebuild(kind report.Kind) error {
	*r.started = append(*r.started, kind)
	return nil
}
func (r rebuilding) TakeOver(kind report.Kind) error    { return r.Rebuild("over " + kind) }
func (r rebuilding) StopRebuild(kind report.Kind) error { return r.Rebuild(kind) }
func (r rebuilding) Rebuilds() []report.Rebuild {
	return []report.Rebuild{{Kind: report.Advisories, Phase: "done"}}
}

// TestStatusSaysWhatIsOfOneProcess: the page says what is about one process, but only if
// there are others.
func TestStatusSaysWhatIsOfOneProcess(t *testing.T) {
	_, text := get(t, oneOfTwo(rebuilding{}), "/api/status")
	var st admin.Status
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		t.Fatal(err)
	}
	if st.Process != "a 1" || strings.Join(st.Processes, ",") != "a 1,b 2" || st.Kinds[0].Holder != "b 2" || st.Kinds[1].Holder != "" {
		t.Errorf("the status is %+v, want process a 1 of two, and cities locked by b 2", st)
	}
	marks := []string{
		"one of 2 that work on the journal", "Last deliveries to this process", "Rebuilds by this process", "Waiting indices, as this process sees it",
		"deliveries to this process</dt>", "Elasticsearch from this process</dt>", "sent only by",
	}
	_, page := get(t, oneOfTwo(rebuilding{}), "/")
	for _, mark := range marks {
		if !strings.Contains(page, mark) {
			t.Errorf("the page does not say %q", mark)
		}
	}
	d := openStatusDesk(t)
	d.set(func() {
		d.waiting = []report.Waiting{{Reason: "overloaded"}}
		d.rebuilt = []report.Rebuild{{Kind: report.Cities}}
	})
	alone, _ := d.read(http.StatusOK, "/")
	for _, mark := range marks {
		if strings.Contains(alone, mark) {
			t.Errorf("the page of a single process says %q", mark)
		}
	}
}

// TestRebuildOfAnotherProcessIsItsOwn asks one process about the rebuild of another.
func TestRebuildOfAnotherProcessIsItsOwn(t *testing.T) {
	var started []report.Kind
	h := oneOfTwo(rebuilding{&started})
	post := func(path string) (int, string) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+path, nil))
		return rec.Code, rec.Body.String()
	}
	for _, path := range []string{"/api/rebuild?kind=cities", "/api/rebuild/stop?kind=cities"} {
		if status, text := post(path); status != http.StatusConflict || !strings.Contains(text, "b 2") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := post("/api/rebuild?kind=advisories"); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	if len(started) != 1 || started[0] != report.Advisories {
		t.Errorf("started are %v", started)
	}
}
