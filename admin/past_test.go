package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

func (d *statusDesk) past(query string) (p admin.Past) {
	d.t.Helper()
	d.call(http.StatusOK, "GET", "/api/history?kind=cities&"+query, "", &p)
	return p
}

// TestHistoryCall asks for lists, single versions and times.
func TestHistoryCall(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/LON", `{"id":"130","code":"LON","title":"London","tags":["a"]}`)
	d.index()
	for n := range 5 {
		d.deliver("PUT", "/cities/130", fmt.Sprintf(`{"id":"130","code":"LON","title":"London","tags":["a","%d"]}`, n))
	}
	d.deliver("PUT", "/cities/130", `{"id":"130","code":"LON","title":"London","tags":["a","4"]}`)
	d.deliver("DELETE", "/cities/130", "")
	d.index()
	p := d.past("id=lon")
	if p.ID != "130" || p.By != report.NamedByDeletedCode || len(p.Versions) != 8 || p.Next != "" || p.KeptSeconds != (90*24*time.Hour).Seconds() {
		t.Fatalf("the history is %+v", p)
	}
	want := []string{"deleted", "nothing", "tags/1 3 → 4", "tags/1 2 → 3", "tags/1 1 → 2", "tags/1 0 → 1", "tags/1 added", "created"}
	for i, v := range p.Versions {
		never := i > 0 && i < 7
		if v.Changes != want[i] || v.Call == "" || v.Body != "" || (v.State == admin.PastOvertaken) != never || (v.SearchableAt == nil) != never {
			t.Errorf("version %d is %+v, want %q", i, v, want[i])
		}
	}
	if first := p.Versions[7]; first.SearchableUntil == nil || !first.SearchableUntil.Equal(*p.Versions[0].SearchableAt) || first.Call != "PUT /cities/LON" {
		t.Errorf("the first version is %+v", first)
	}
	paged := 0
	for next := "id=130&limit=3"; ; paged++ {
		page := d.past(next)
		for i, v := range page.Versions {
			if v.Changes != want[3*paged+i] {
				t.Errorf("on page %d: %+v, want %q", paged, v, want[3*paged+i])
			}
		}
		if page.Next == "" {
			break
		}
		next = "id=130&limit=3&before=" + page.Next
	}
	if paged != 2 {
		t.Errorf("there are %d pages of 3", paged+1)
	}
	one := d.past(fmt.Sprintf("id=130&version=%d", p.Versions[6].Version)).Versions
	if len(one) != 1 || !strings.Contains(one[0].Body, `"tags":["a","0"]`) {
		t.Errorf("one version is %+v", one)
	}
	// While the second version was the newest, a search showed the first; or the second, if
	// Elasticsearch took it and its answer was lost.
	at := d.past("id=130&at=" + p.Versions[6].AcceptedAt.Format(time.RFC3339Nano)).Versions[0]
	if at.Version != p.Versions[6].Version || at.Shown == nil || at.Shown.Known || at.Shown.Version != p.Versions[7].Version {
		t.Errorf("at a time it is %+v, and a search showed %+v", at, at.Shown)
	}
	at = d.past("id=130&at=" + p.Versions[7].AcceptedAt.Format(time.RFC3339Nano)).Versions[0]
	if at.Shown == nil || !at.Shown.Known || at.Shown.Version != 0 {
		t.Errorf("at the beginning a search showed %+v, want nothing", at.Shown)
	}
	// One that was replaced as it was accepted was never sent.
	d.deliver("PUT", "/cities/140", `{"id":"140","title":"one"}`)
	d.index()
	d.deliver("POST", "/cities", `[{"id":"140","title":"two"},{"id":"140","title":"three"}]`)
	d.index()
	both := d.past("id=140").Versions
	if at = d.past("id=140&at=" + both[0].AcceptedAt.Format(time.RFC3339Nano)).Versions[0]; len(both) > 3 || !at.Shown.Known || at.Shown.Version != both[len(both)-1].Version {
		t.Errorf("at a time it is %+v of %+v, and a search showed %+v", at, both, at.Shown)
	}
	for query, status := range map[string]int{
		"kind=cities&id=999": 404, "kind=cities&id=130&version=1": 404, "kind=cities&id=130&at=2020-01-01T00:00:00Z": 404, "kind=cities&id=130&at=0001-01-01T00:00:00Z": 404, "kind=cities&id=130&at=now": 400,
		"kind=cities&id=130&at=2020-01-01T00:00:00Z&version=1": 400, "kind=cities": 400, "kind=cities&id=130&before=x": 400, "kind=cities&id=130&before=1": 200,
	} {
		d.call(status, "GET", "/api/history?"+query, "", nil)
	}
	d.deliver("PUT", "/cities/131", `{"id":"131","code":"TWO"}`)
	d.deliver("PUT", "/cities/132", `{"id":"132","code":"TWO"}`)
	d.call(http.StatusConflict, "GET", "/api/history?kind=cities&id=TWO", "", nil)
}

// TestHistoryOfAnAdoptedCity: what the city was while it was known by its code alone can be found.
func TestHistoryOfAnAdoptedCity(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/LON", `{"title":"by code"}`)
	d.index()
	d.deliver("PUT", "/cities/LON", `{"title":"by code still"}`)
	d.index()
	was := d.past("id=LON").Versions
	d.deliver("POST", "/cities", `{"id":"130","code":"LON","title":"by id"}`)
	p := d.past("id=LON")
	if p.ID != "130" || p.Former != "LON" || !p.FormerUntil.Equal(p.Versions[0].AcceptedAt) || !strings.Contains(p.Earlier(), "riskdex history --exact cities LON") {
		t.Errorf("the history is %+v, and says %q", p, p.Earlier())
	}
	if by := d.past("id=130"); by.Former != "LON" || len(by.Versions) != 1 {
		t.Errorf("by the id, the history is %+v", by)
	}
	if former := d.past("id=LON&exact=true"); former.ID != "LON" || former.Former != "" || len(former.Versions) != 3 || former.Versions[1].Version != was[0].Version {
		t.Errorf("of the former document the history is %+v", former)
	}
	for _, name := range []string{"LON", "130"} {
		at := d.past("id=" + name + "&at=" + was[1].AcceptedAt.Format(time.RFC3339Nano))
		if v := at.Versions[0]; at.ID != "LON" || v.Version != was[1].Version || !strings.Contains(v.Body, "by code") {
			t.Errorf("%s was %+v", name, at)
		}
	}
	// The index has not adopted it yet, so a search still showed the former.
	then := "id=130&at=" + p.Versions[0].AcceptedAt.Format(time.RFC3339Nano)
	if at := d.past(then); at.ID != "130" || at.Versions[0].Shown == nil || !at.Versions[0].Shown.Known || at.Versions[0].Shown.Version != was[0].Version {
		t.Errorf("at the adoption it was %+v, and a search showed %+v", at, at.Versions[0].Shown)
	}
	d.index()
	if at := d.past("id=130&at=" + time.Now().UTC().Format(time.RFC3339Nano)); at.Versions[0].Shown.Version != p.Versions[0].Version {
		t.Errorf("later a search showed %+v", at.Versions[0].Shown)
	}
	d.deliver("DELETE", "/cities/130", "")
	d.index()
	if gone := d.past("id=130"); gone.Former != "LON" {
		t.Errorf("after a delete the history is %+v", gone)
	}
	d.call(http.StatusNotFound, "GET", "/api/history?kind=cities&id=PAR&exact=true", "", nil)
}

// TestHistoryOfWhatARebuildRefused: a search found a version until it was sent again and refused.
func TestHistoryOfWhatARebuildRefused(t *testing.T) {
	d := openStatusDesk(t)
	never := d.named("PUT", "/cities/1", `{"t":"poison"}`)
	d.index()
	name := d.named("PUT", "/cities/2", `{"t":"poison to the next mapping"}`)
	c, err := d.journal.Claim(t.Context(), report.Cities, 1, 1<<20)
	require.NoError(t, err)
	require.NoError(t, d.journal.Settle(t.Context(), []report.Settlement{{Key: c[0].Key, Version: c[0].Version, Outcome: report.Indexed}}))
	_, err = report.ResendAll(t.Context(), d.journal, report.Cities)
	require.NoError(t, err)
	d.index()
	check := func() {
		t.Helper()
		versions := d.past("id=2").Versions
		was := versions[len(versions)-1]
		if says := was.Searchable(); was.State != admin.PastRefused || was.SearchableAt == nil || was.SearchableUntil != nil || !strings.Contains(says, "until it was refused when it was sent again") {
			t.Errorf("the version is %+v, and was searchable %s", was, says)
		}
		at := d.past("id=2&at=" + was.SearchableAt.Format(time.RFC3339Nano)).Versions[0]
		if at.Shown == nil || at.Shown.Known || at.Shown.Version != was.Version {
			t.Errorf("when the index had it, a search showed %+v", at.Shown)
		}
	}
	check()
	d.deliver("PUT", "/cities/1", `{"t":"corrected"}`)
	d.deliver("PUT", "/cities/2", `{"t":"corrected"}`)
	d.index()
	check()
	for name, says := range map[string]string{never: "never reached the index", name: "in the index since"} {
		if x := d.delivery(name).Items[0]; !strings.HasPrefix(x.Says(), says) {
			t.Errorf("of a delivery is said %q, want %q", x.Says(), says)
		}
	}
	if says := d.past("id=1").Versions[1].Searchable(); says != "never: refused by Elasticsearch" {
		t.Errorf("what was refused at once was searchable %s", says)
	}
}

// TestHistoryInABrowser opens the page of a document with a history, which needs no scrolling
// to the side.
func TestHistoryInABrowser(t *testing.T) {
	d := openStatusDesk(t)
	d.shows(0, 0)
	for n, title := range []string{"Lisbon", "Lisbon", "Lisbon and its region"} {
		d.deliver("PUT", "/cities/LIS", fmt.Sprintf(`{"id":"130","code":"LIS","title":"%s","risk_level":%d,"text":"%s"}`, title, 2+n, strings.Repeat("What travellers should know. ", 10+n)))
		if n != 1 {
			d.index()
		}
	}
	d.deliver("DELETE", "/cities/LIS", "")
	d.index()
	d.deliver("PUT", "/cities/130", `{"id":"130","code":"LIS","title":"Lisbon"}`)
	c := openChromium(t)
	for name, width := range map[string]int{"history-light": 1200, "history-phone-light": 390} {
		c.look(width, 1000, width < 500, "light")
		c.open(d.server.URL + "/document?kind=cities&id=LIS")
		if got := c.eval("document.documentElement.scrollWidth"); got != fmt.Sprint(width) {
			t.Errorf("%s: the page is %s wide, and the window %d", name, got, width)
		}
		c.picture(name)
	}
	text := c.eval("document.body.innerText")
	if strings.Index(text, "History") > strings.Index(text, "Its newest record") {
		t.Error("history is below the record")
	}
	for _, want := range []string{"History", "PUT /cities/LIS", "risk_level 3 → 4", "never, as far as known: overtaken", "deleted", "created anew", "not yet"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}
