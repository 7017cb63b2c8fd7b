package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// named makes a delivery and returns its name.
func (d *statusDesk) named(method, path, body string) string {
	d.t.Helper()
	rec := httptest.NewRecorder()
	d.receiver.ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader(body)))
	var answer struct{ Delivery string }
	require.NoError(d.t, json.Unmarshal(rec.Body.Bytes(), &answer))
	if rec.Code != http.StatusAccepted || answer.Delivery == "" {
		d.t.Fatalf("%s %s is answered %d %s, want a name", method, path, rec.Code, rec.Body)
	}
	return answer.Delivery
}

func (d *statusDesk) delivery(query string) (page admin.DeliveryPage) {
	d.t.Helper()
	d.call(http.StatusOK, "GET", "/api/delivery?name="+query, "", &page)
	return page
}

// TestWhatBecameOfADelivery follows the documents of a delivery to every end.
func TestWhatBecameOfADelivery(t *testing.T) {
	d := openStatusDesk(t)
	name := d.named("POST", "/cities", `[{"id":"1"},{"id":"2","t":"poison"},{"id":"3"},{"id":"4"},{"t":"has no id"}]`)
	want := func(query, says string, states ...string) admin.DeliveryPage {
		t.Helper()
		p, got := d.delivery(query), []string(nil)
		for _, x := range p.Items {
			got = append(got, string(x.ID)+" "+x.State)
		}
		if !slices.Equal(got, states) || p.Says != says {
			t.Errorf("%s: %q with %q, want %q with %q", query, p.Says, got, says, states)
		}
		return p
	}
	if p := want(name, "Changes: 4. Newest of their document: 4.", "1 waiting", "2 waiting", "3 waiting", "4 waiting"); !strings.Contains(p.IndexError, "nobody") {
		t.Errorf("the index answers nothing, and this is said: %q", p.IndexError)
	}
	d.deliver("PUT", "/cities/3", `{"t":"newer"}`)
	gone := d.named("DELETE", "/cities/4", "")
	d.index()
	found := map[report.ID]report.Version{}
	for _, x := range d.delivery(name).Items {
		found[x.ID] = x.Version
	}
	want(name, "Changes: 4. Newest of their document: 2. Replaced by newer ones, and kept in history: 2.", "1 not_asked", "2 dead", "3 replaced", "4 replaced")
	d.shown = func([]report.ID) map[report.ID]report.Version {
		return map[report.ID]report.Version{"1": found["1"], "2": found["2"] - 5}
	}
	p := want(name+"&limit=1", "Changes: 4. Newest of their document: 2. Replaced by newer ones, and kept in history: 2.", "1 searchable")
	if p = want(name+"&limit=1&after="+p.Next, "Changes: 4. Newest of their document: 2. Replaced by newer ones, and kept in history: 2.", "2 dead"); !strings.Contains(p.Items[0].Reason, "it is poison") || p.Items[0].Searchable || p.Changes != 4 || p.Replaced != 2 {
		t.Errorf("of the dead letter is said %+v", p)
	}
	p = want(name+"&after="+p.Next, "Changes: 4. Newest of their document: 2. Replaced by newer ones, and kept in history: 2.", "3 replaced", "4 replaced")
	if x := p.Items[0]; x.ReplacedBy <= x.Version || x.ReplacedAt.IsZero() || !x.SearchableAt.IsZero() || !strings.Contains(x.Says(), fmt.Sprintf("never reached the index, as far as known; replaced at %s by version %d", x.ReplacedAt.Format("2006-01-02 15:04:05"), x.ReplacedBy)) {
		t.Errorf("of what was replaced is said %q: %+v", x.Says(), x)
	}
	lost := d.named("PUT", "/cities/6", `{"t":"to be lost"}`)
	d.index()
	want(lost, "Changes: 1. Newest of their document: 1.", "6 waiting") // for a refresh
	d.set(func() { d.now = time.Now().Add(admin.LagBound + time.Second) })
	if p = want(lost, "Changes: 1. Newest of their document: 1.", "6 differs"); p.Items[0].Searchable || !strings.Contains(p.Items[0].Says(), "riskdex show") {
		t.Errorf("of what the index has lost is said %q: %+v", p.Items[0].Says(), p.Items[0])
	}
	d.set(func() { d.now = time.Now() })
	half := d.named("POST", "/cities", `[{"id":"7"},{"t":"has no id"},{"id":"8"}]`)
	d.call(http.StatusOK, "PUT", bodyOf(d.refused(2, "")[0]), `{"id":"9"}`, nil)
	want(half, "Changes: 2. Newest of their document: 2. Refused at first, and accepted at a retry: 1.", "7 waiting", "9 waiting", "8 waiting")
	want(gone, "Changes: 1. Newest of their document: 1.", "4 deleted")
	want(d.named("POST", "/cities", "[]"), "The delivery changed nothing.")

	for query, status := range map[string]int{"": 404, "5": 404, name + "0": 404, name + "&limit=x": 400, report.DeliveryName{First: 1 << 60, Last: 1 << 60, Changes: 1}.String(): 404} {
		if detail := d.call(status, "GET", "/api/delivery?name="+query, "", nil); detail == "" {
			t.Errorf("%s has no detail", query)
		}
	}
}

// TestDeliveryThatMayBeLost: nobody is told that newer ones replaced what an older copy of the
// journal lacks.
func TestDeliveryThatMayBeLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "riskdex.db")
	deliver := func() string {
		j, err := sqlite.Open(t.Context(), path, journal.Options{})
		require.NoError(t, err)
		stamps, err := j.Append(t.Context(), report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Cities, ID: "1"}, Op: report.Index, Body: []byte("{}")}}})
		require.NoError(t, err)
		require.NoError(t, j.Close())
		return report.NameDelivery(stamps).String()
	}
	before := deliver()
	kept := deliver()
	older, err := os.ReadFile(path)
	require.NoError(t, err)
	lost := deliver()
	require.NoError(t, os.WriteFile(path, older, 0o600))
	d := openStatusDeskOn(t, openDeskOn(t, path))
	after := d.named("PUT", "/cities/2", `{"t":"1"}`)
	d.deliver("PUT", "/cities/2", `{"t":"2"}`)
	check := func() {
		t.Helper()
		for _, c := range []struct {
			name, says string
			lost       bool
		}{
			{before, "Changes: 1. Newest of their document: 0. Replaced by newer ones: 1.", false},
			{kept, "Changes: 1. Newest of their document: 1.", false},
			{lost, "Changes: 1. Newest of their document: 0. Replaced by newer ones, or lost, as the journal lacks changes of that time: 1.", true},
			{after, "Changes: 1. Newest of their document: 0. Replaced by newer ones, and kept in history: 1.", false},
		} {
			if p := d.delivery(c.name); p.Says != c.says || p.Lost != c.lost {
				t.Errorf("%s: %q, lost %t; want %q, %t", c.name, p.Says, p.Lost, c.says, c.lost)
			}
		}
	}
	check()
	d.call(http.StatusOK, "POST", "/api/journal/acknowledge-loss", "", nil) // which brings nothing back
	check()
}
