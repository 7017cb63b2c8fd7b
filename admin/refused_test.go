package admin_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/report"
)

func TestRefusalsAreListedInPages(t *testing.T) {
	d := openDesk(t)
	for i := range 5 {
		d.deliver("PUT", fmt.Sprintf("/cities/%d", i), `{`)
	}
	d.deliver("POST", "/advisories", `[{"t":"no id"},{"id":1}]`)
	for _, length := range []int{1, 2, 3, 6, 100} {
		var got []string
		for _, r := range d.refused(length, "") {
			got = append(got, r.Method+r.ID)
		}
		if s := strings.Join(got, " "); s != "POST PUT4 PUT3 PUT2 PUT1 PUT0" {
			t.Errorf("in pages of %d: %s", length, s)
		}
		if got := d.refused(length, "&reason=missing_id"); len(got) != 1 || got[0].Position != 0 {
			t.Errorf("of one reason, in pages of %d: %+v", length, got)
		}
		if got := d.refused(length, "&kind=cities"); len(got) != 5 {
			t.Errorf("of one kind, in pages of %d: %d", length, len(got))
		}
	}
}

func TestRefusalIsShown(t *testing.T) {
	d := openDesk(t)
	for i, body := range []string{`{"a":1,}`, "{\"a\":\"\xff\"}", ""} {
		d.deliver("PUT", "/cities/7", body)
		var r admin.Refusal
		d.call(200, "GET", fmt.Sprintf("/api/refused/delivery?number=%d", d.refused(1, "")[0].Number), "", &r)
		if string(r.Raw()) != body || r.Bytes != len(body) || r.Cut || r.ID != "7" || r.Path != "/cities/7" || r.Position != -1 || r.Reason != "invalid_json" || r.Detail == "" || r.At.IsZero() {
			t.Errorf("%d: %+v", i, r)
		}
	}
	d.call(404, "GET", "/api/refused/delivery?number=99", "", nil)
	d.call(400, "GET", "/api/refused/delivery?number=x", "", nil)
	d.call(400, "GET", "/api/refused/delivery", "", nil)
}

// asText returns what the index has as id=body, sorted by id.
func asText(indexed map[string]string) string {
	var all []string
	for id, body := range indexed {
		all = append(all, id+"="+body)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func retryOf(r admin.Refusal) string { return fmt.Sprintf("/api/refused/retry?number=%d", r.Number) }
func bodyOf(r admin.Refusal) string  { return fmt.Sprintf("/api/refused/delivery?number=%d", r.Number) }

func TestRefusalIsRetriedWithAnEditedBody(t *testing.T) {
	d := openDesk(t)
	for _, c := range []struct {
		method, path, body, edited string
		want                       string // id=body in the index
	}{
		{"PUT", "/cities/a%2Fb", `{"t":1`, `{"t":1}`, `a/b={"t":1}`},
		{"PUT", "/cities/1", `{`, "\xef\xbb\xbf {\"t\":2} ", `1={"t":2}`},
		{"POST", "/cities", `[{"id":2,}]`, `[{"id":2},{"id":3}]`, `2={"id":2} 3={"id":3}`},
		{"POST", "/cities", `{"t":"no id"}`, `{"id":"x","t":"an id"}`, `x={"id":"x","t":"an id"}`},
		{"POST", "/advisories", `[{"id":9},{"t":"no id"}]`, `{"id":10}`, `10={"id":10}`},
		{"POST", "/special-reports", `{"id":5,"t":"` + strings.Repeat("x", 10_000) + `"}`, `{"id":5}`, `5={"id":5}`},
	} {
		d.deliver(c.method, c.path, c.body)
		d.index()
		kept, counted := d.refused(10, ""), d.refusedCounted()
		if len(kept) != 1 {
			t.Fatalf("%s %s: %d kept", c.method, c.path, len(kept))
		}
		// Retried as it was, it is refused again. It is still kept and counted only once.
		d.call(422, "POST", retryOf(kept[0]), "", nil)
		d.call(422, "PUT", bodyOf(kept[0]), `{"worse`, nil)
		again := d.refused(10, "")
		if !reflect.DeepEqual(again, kept) || d.refusedCounted() != counted {
			t.Errorf("%s %s: refused again, kept are %+v, counted %v and then %v", c.method, c.path, again, counted, d.refusedCounted())
		}
		var done admin.Redelivered
		d.call(200, "PUT", bodyOf(kept[0]), c.edited, &done)
		if want := strings.Count(c.want, "={"); done != (admin.Redelivered{Deliveries: 1, Accepted: want}) {
			t.Errorf("%s %s: %+v", c.method, c.path, done)
		}
		if got := asText(d.index()); got != c.want {
			t.Errorf("%s %s: the index has %s, want %s", c.method, c.path, got, c.want)
		}
		if len(d.refused(10, "")) != 0 {
			t.Errorf("%s %s: still kept", c.method, c.path)
		}
		d.call(404, "PUT", bodyOf(kept[0]), c.edited, nil)
	}
	d.conserved()
}

// TestCutRefusalIsNotRetriedAsItIs: the kept part of a body may be valid JSON, and still
// not what was sent.
func TestCutRefusalIsNotRetriedAsItIs(t *testing.T) {
	d := openDesk(t)
	d.deliver("PUT", "/cities/1", `{"id":1}`+strings.Repeat(" ", 10_000))
	kept := d.refused(10, "")
	if len(kept) != 1 || !kept[0].Cut || kept[0].Reason != "too_large" {
		t.Fatalf("kept %+v, want one cut refusal", kept)
	}
	if detail := d.call(422, "POST", retryOf(kept[0]), "", nil); !strings.Contains(detail, "whole body") {
		t.Error(detail)
	}
	if got := d.index(); len(got) != 0 || len(d.refused(10, "")) != 1 {
		t.Errorf("the index has %v", got)
	}
}

func TestWrongPathIsNotRetried(t *testing.T) {
	d := openDesk(t)
	for _, call := range [][2]string{{"POST", "/countries"}, {"POST", "/cities/1"}, {"PUT", "/cities"}, {"POST", "/cities/"}} {
		if status := d.deliver(call[0], call[1], `{"id":1}`); status/100 != 4 {
			t.Fatalf("%v: %d", call, status)
		}
		kept := d.refused(10, "")[0]
		for _, detail := range []string{
			d.call(422, "POST", retryOf(kept), "", nil), d.call(422, "PUT", bodyOf(kept), `{"id":1}`, nil),
		} {
			if !strings.Contains(detail, "right path") {
				t.Errorf("%v: the answer does not say what to do: %s", call, detail)
			}
		}
	}
	if got := d.index(); len(got) != 0 || len(d.refused(10, "")) != 4 {
		t.Errorf("the index has %v", got)
	}
}

// TestRetriedRefusalNeverOvertakes: of two deliveries for a document the later one wins,
// whichever of them was retried.
func TestRetriedRefusalNeverOvertakes(t *testing.T) {
	d := openDesk(t)
	// The id is not known when it is refused, so nothing clears it.
	d.deliver("POST", "/cities", `{"id":1,"code":"LON","t":"old"`)
	kept := d.refused(10, "")[0]
	d.deliver("PUT", "/cities/1", `{"id":1,"code":"LON","t":"new"}`)
	d.deliver("DELETE", "/cities/2", "")
	d.index()
	var done admin.Redelivered
	d.call(200, "PUT", bodyOf(kept), `[{"id":1,"t":"old"},{"code":"LON","t":"old, by its code"},{"id":2,"t":"old"},{"id":3,"t":"not known yet"}]`, &done)
	if done != (admin.Redelivered{Deliveries: 1, Accepted: 1, Overtaken: 3}) {
		t.Errorf("the retry is answered %+v, want 1 accepted and 3 overtaken", done)
	}
	if got := asText(d.index()); got != `3={"id":3,"t":"not known yet"}` {
		t.Errorf("sent: %s", got)
	}
	if len(d.refused(10, "")) != 0 {
		t.Error("the refusal is still kept, although everything acceptable was accepted")
	}
	// Both of two refused deliveries are retried, in either order.
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		d.deliver("POST", "/cities", `{"id":5,"t":"first"`)
		d.deliver("POST", "/cities", `{"id":5,"t":"second"`)
		newest := d.refused(10, "")
		edited := []string{`{"id":5,"t":"second"}`, `{"id":5,"t":"first"}`}
		for _, i := range order {
			d.call(200, "PUT", bodyOf(newest[i]), edited[i], nil)
		}
		if got := asText(d.index()); got != `5={"id":5,"t":"second"}` {
			t.Errorf("retried in the order %v, the index has %s", order, got)
		}
	}
	d.conserved()
}

func TestNewerDeliveryClearsRefusal(t *testing.T) {
	d := openDesk(t)
	d.deliver("PUT", "/cities/1", `{`)
	d.deliver("PUT", "/cities/2", `{`)
	d.deliver("PUT", "/cities/1", `{"t":1}`)
	if kept := d.refused(10, ""); len(kept) != 1 || kept[0].ID != "2" {
		t.Errorf("kept %+v, want only that of city 2", kept)
	}
}

func TestAllRefusals(t *testing.T) {
	d := openDesk(t)
	fill := func() {
		var all admin.Ended
		d.call(200, "POST", "/api/refused/drop?all=true", "", &all)
		d.deliver("PUT", "/cities/1", `{`)
		d.deliver("POST", "/cities", `{"t":"no id"}`)
		d.deliver("POST", "/advisories", `{"t":"no id"}`)
		d.deliver("POST", "/countries", `{}`)
	}
	for query, want := range map[string]int{
		"?all=true": 4, "?all=true&kind=cities": 2, "?all=true&reason=missing_id": 2, "?all=true&kind=cities&reason=missing_id": 1, "?all=true&reason=x": 0,
	} {
		fill()
		var done admin.Redelivered
		d.call(200, "POST", "/api/refused/retry"+query, "", &done)
		if done != (admin.Redelivered{Refused: want}) || len(d.refused(2, "")) != 4 {
			t.Errorf("retry%s: %+v, %d kept", query, done, len(d.refused(2, "")))
		}
		var ended admin.Ended
		d.call(200, "POST", "/api/refused/drop"+query, "", &ended)
		if left := len(d.refused(2, "")); ended.Done != want || left != 4-want {
			t.Errorf("drop%s: %+v, %d kept", query, ended, left)
		}
	}
	fill()
	one := d.refused(10, "")[0]
	path := fmt.Sprintf("/api/refused/drop?number=%d", one.Number)
	d.call(200, "POST", path, "", nil)
	d.call(404, "POST", path, "", nil)
	d.call(400, "POST", "/api/refused/drop", "", nil)
	d.call(400, "POST", "/api/refused/drop?all=true&kind=countries", "", nil)
}

// TestRefusalIsATroubleBeforeManyOfAnotherKind: those that came since must not hide it.
func TestRefusalIsATroubleBeforeManyOfAnotherKind(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("POST", "/advisories", `{"broken`)
	for range 250 {
		d.deliver("POST", "/cities", `{"broken`)
	}
	troubles := func() (kinds []report.Kind) {
		t.Helper()
		for _, trouble := range d.status().Troubles {
			if trouble.What == admin.TroubleRefusing {
				kinds = append(kinds, trouble.Kind)
			}
		}
		return kinds
	}
	if got := troubles(); !slices.Equal(got, []report.Kind{report.Cities, report.Advisories}) {
		t.Errorf("refused are %v, want cities and an advisory", got)
	}
}
