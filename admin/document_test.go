package admin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
	"riskdex/search"
)

func (d *statusDesk) document(kind report.Kind, name string) (doc admin.Document) {
	d.t.Helper()
	d.call(http.StatusOK, "GET", "/api/document?kind="+string(kind)+"&id="+name, "", &doc)
	return doc
}

// shows makes Elasticsearch have the journal's version plus written, and searches show the
// journal's version plus searchable.
func (d *statusDesk) shows(written, searchable report.Version, differ ...string) {
	d.indexed = func(c report.Change) admin.Indexed {
		x := admin.Indexed{Index: "cities", Version: c.Version + written, Searchable: c.Version + searchable, Differ: differ}
		if c.Op == report.Delete || searchable < -1000 {
			x.Searchable = 0
		}
		if written < -1000 {
			x.Version = 0
		}
		return x
	}
}

// TestDocumentSaysItsState takes a document through every state, and checks what is said of it.
func TestDocumentSaysItsState(t *testing.T) {
	d := openStatusDesk(t)
	const none = -1 << 50 // for shows: no version at all
	want := func(name, state string, searchable bool, says ...string) admin.Document {
		t.Helper()
		doc := d.document(report.Cities, name)
		if doc.State != state || doc.Searchable != searchable {
			t.Errorf("%s is %s, searchable %v, want %s, %v: %s", name, doc.State, doc.Searchable, state, searchable, doc.Says)
		}
		for _, text := range says {
			if !strings.Contains(doc.Says+" "+doc.Remedy, text) {
				t.Errorf("of %s is said %q and %q, want %q in it", name, doc.Says, doc.Remedy, text)
			}
		}
		return doc
	}
	d.shows(none, none)
	want("LON", admin.DocumentUnknown, false, "nothing of cities LON", "never accepted")
	loss := report.Loss{Until: d.clock()}
	d.note(report.AcknowledgedLossNote(loss), report.NoteOfLoss(loss))
	want("LON", admin.DocumentUnknown, false, "nothing of cities LON", "lost when the journal was set back")
	d.deliver("PUT", "/cities/LON", `{"id":"130","code":"LON","title":"London"}`)
	if doc := want("lon", admin.DocumentWaiting, false, "waits since", "on its way", "does not find it"); doc.By != report.NamedByCode || doc.ID != "130" || doc.Code != "LON" || doc.Body == "" {
		t.Errorf("the code leads to %+v, want the city 130 with its record", doc)
	}
	since := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	d.waiting = []report.Waiting{{Kind: report.Cities, Index: "cities", Paused: true, Reason: "index_closed", Since: since}}
	want("130", admin.DocumentWaiting, false, "held since 2026-02-03 04:05:06 UTC: it is closed (index_closed)", "POST ELASTICSEARCH/cities/_open")
	d.waiting[0] = report.Waiting{Kind: report.Cities, Index: "cities", Reason: "unreachable", Detail: "connection refused", Since: since}
	want("130", admin.DocumentWaiting, false, "nothing gets through to the index cities since 2026-02-03 04:05:06 UTC: unreachable: connection refused")
	d.waiting = nil
	d.down = true
	want("130", admin.DocumentWaiting, false, "Elasticsearch is away")
	d.down = false
	d.shows(0, 0)
	want("130", admin.DocumentSearchable, true, "finds the newest record")
	d.index()
	want("130", admin.DocumentSearchable, true, "finds the newest record")
	d.shows(0, 0, "title", "text")
	want("130", admin.DocumentDiffers, false, "title, text", "riskdex rebuild cities")
	d.shows(0, -1)
	want("130", admin.DocumentWaiting, false, "next refresh")
	d.shows(none, none)
	want("130", admin.DocumentDiffers, false, "lost it", "riskdex verify --repair cities")
	d.shows(7, 7)
	want("130", admin.DocumentDiffers, false, "newer than that of the journal")
	d.indexed = nil
	want("130", admin.DocumentNotAsked, false, "nobody <b>answers</b>")

	d.deliver("PUT", "/cities/130", `{"title":"poison"}`)
	d.index()
	d.shows(-5, -5)
	want("LON", admin.DocumentDead, false, "document_parsing_exception: it is poison.", "A search finds version", "riskdex dead show")
	require.NoError(t, firstError(d.journal.DropDead(t.Context(), []report.Stamp{{Key: report.Key{Kind: report.Cities, ID: "130"}, Version: d.document(report.Cities, "130").Version}})))
	want("LON", admin.DocumentDropped, false, "somebody dropped it", "deliver it again")

	d.deliver("DELETE", "/cities/LON", "")
	d.indexed = func(c report.Change) admin.Indexed { return admin.Indexed{Searchable: c.Version - 1} }
	want("LON", admin.DocumentWaiting, false, "waits since")
	d.indexed = func(c report.Change) admin.Indexed { return admin.Indexed{Version: c.Version - 1} } // a PUT that the next refresh shows
	want("LON", admin.DocumentWaiting, false, "waits since")
	d.indexed = func(c report.Change) admin.Indexed { return admin.Indexed{Searchable: c.Version - 1} }
	d.index()
	want("LON", admin.DocumentWaiting, false, "with the next refresh", "A search finds version")
	d.shows(none, 0)
	if doc := want("LON", admin.DocumentDeleted, true, "no search finds it"); doc.By != report.NamedByDeletedCode {
		t.Errorf("the code of a deleted city is resolved by %s, want %s", doc.By, report.NamedByDeletedCode)
	}
	d.deliver("PUT", "/cities/1", `{"code":"TWO"}`)
	d.deliver("PUT", "/cities/2", `{"code":"TWO"}`)
	want("TWO", admin.DocumentAmbiguous, false, "Several cities have the code TWO", "1", "2")
	d.deliver("PUT", "/cities/3", `[]`)
	if doc := want("3", admin.DocumentUnknown, false, "was refused", "riskdex refused show 1"); len(doc.Refused) != 1 {
		t.Errorf("refused for it were %+v, want one delivery", doc.Refused)
	}
	d.deliver("PUT", "/advisories/a", `[]`)
	if doc := d.document(report.Advisories, "A"); len(doc.Refused) != 0 { // only the codes of cities have no case
		t.Errorf("refused for another advisory were %+v", doc.Refused)
	}
	for _, query := range []string{"", "kind=cities", "id=1", "kind=probe&id=probe", "kind=cities&id=", "kind=cities&id=1&x=1"} {
		d.call(http.StatusBadRequest, "GET", "/api/document?"+query, "", nil)
	}
}

func firstError(_ int, err error) error { return err }

// TestDocumentPageEscapes what strangers have sent.
func TestDocumentPageEscapes(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/a%2F%3Cb%3E%22", `{"title":"<i>","code":"XSS","text":"</pre><script>"}`)
	d.shows(0, 0)
	old := d.indexed
	d.indexed = func(c report.Change) admin.Indexed {
		x := old(c)
		x.Fields = []admin.FieldSource{{Field: "title", Pointer: "/<u>", Value: `"<i>"`}, {Field: "text", Reason: "<s>"}}
		return x
	}
	for _, name := range []string{"XSS", "a%2F%3Cb%3E%22"} {
		text, _ := d.read(http.StatusOK, "/document?kind=cities&id="+name)
		for _, want := range []string{"searchable.", "A search finds the newest record", "a/&lt;b&gt;&#34;", "/&lt;u&gt;", "left out: &lt;s&gt;", "&lt;/pre&gt;&lt;script&gt;"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page of %s lacks %q:\n%s", name, want, text)
			}
		}
		for _, never := range []string{"<i>", "<u>", "<s>", "<b>", "<script>"} {
			if strings.Contains(text, never) {
				t.Errorf("the page of %s has %q unescaped", name, never)
			}
		}
	}
	if text, _ := d.read(http.StatusOK, "/document?kind=cities&id=nobody"); !strings.Contains(text, "nothing of cities nobody") {
		t.Errorf("the page of an unknown name does not say so:\n%s", text)
	}
	if text, _ := d.read(http.StatusBadRequest, "/document?kind=towns&id=%22%3E"); !strings.Contains(text, "Say which kind") || strings.Contains(text, `value="">`+`"`) {
		t.Errorf("the page of an unknown kind does not ask for one, or has the name unescaped:\n%s", text)
	}
}

// TestDocumentsAreLinked: documents that the status page and searches name have links to their pages.
func TestDocumentsAreLinked(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/a%26b", `{"title":"poison"}`)
	d.index()
	d.deliver("PUT", "/advisories/7", `[]`)
	d.found = search.Result{Total: 1, Hits: []search.Hit{{ID: "a&b", Fields: search.Fields{Kind: report.Cities, Title: "x"}}}}
	d.last.Note(report.Answered{Kind: report.Cities, Method: "PUT", Status: 202, ID: "c d"})
	page, _ := d.read(http.StatusOK, "/")
	for _, want := range []string{`href="/document?kind=cities&amp;id=a%26b"`, `href="/document?kind=cities&amp;id=c%20d"`, `href="/document?kind=advisories&amp;id=7"`, `action="/document"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the status page lacks %s", want)
		}
	}
	if found, _ := d.read(http.StatusOK, "/search?q=x"); !strings.Contains(found, `href="/document?kind=cities&amp;id=a%26b"`) {
		t.Error("the page of a search lacks the link to a hit")
	}
}
