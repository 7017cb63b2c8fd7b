package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

func TestDeadLettersAreListedInPages(t *testing.T) {
	d := openDesk(t)
	for i := range 7 {
		d.deliver("PUT", fmt.Sprintf("/cities/%d", i), `{"t":"poison"}`)
	}
	d.deliver("PUT", "/cities/well", `{"t":1}`)
	d.deliver("PUT", "/cities/s", `{"t":"strict poison"}`)
	d.deliver("PUT", "/advisories/a", `{"t":"poison"}`)
	d.index()
	for _, length := range []int{1, 3, 4, 8, 100} {
		if got := strings.Join(d.dead(report.Cities, length, ""), " "); got != "0 1 2 3 4 5 6 s" {
			t.Errorf("in pages of %d: %s", length, got)
		}
		if got := strings.Join(d.dead(report.Cities, length, "&type=strict_dynamic_mapping_exception"), " "); got != "s" {
			t.Errorf("of one type, in pages of %d: %s", length, got)
		}
	}
	if got := d.dead(report.SpecialReports, 10, ""); len(got) != 0 {
		t.Errorf("dead letters of a kind without any: %v", got)
	}
	d.call(400, "GET", "/api/dead", "", nil)
	d.call(400, "GET", "/api/dead?kind=countries", "", nil)
	d.call(400, "GET", "/api/dead?kind=cities&limit=-1", "", nil)
}

func TestDeadLetterIsShown(t *testing.T) {
	d := openDesk(t)
	body := "{\"t\": \"poison\",\t\"<é>\" : 1.0}"
	d.deliver("PUT", "/cities/a%2Fb%20%26%3Fc", body)
	d.index()
	var l admin.DeadLetter
	d.call(200, "GET", "/api/dead/letter?kind=cities&id=a%2Fb%20%26%3Fc", "", &l)
	if l.ID != "a/b &?c" || l.Kind != report.Cities || string(l.Raw()) != body || l.Bytes != len(body) ||
		l.ErrorType != "document_parsing_exception" || l.Reason != "it is poison" || l.Version <= 0 || l.DeadAt.Before(l.AcceptedAt) || l.AcceptedAt.IsZero() {
		t.Errorf("the dead letter is %+v, want everything that was delivered, and why it is dead", l)
	}
	d.call(404, "GET", "/api/dead/letter?kind=cities&id=another", "", nil)
	d.call(404, "GET", "/api/dead/letter?kind=advisories&id=a%2Fb%20%26%3Fc", "", nil)
	d.call(400, "GET", "/api/dead/letter?kind=cities", "", nil)
}

func TestDeadLetterIsRetried(t *testing.T) {
	d := openDesk(t)
	d.deliver("PUT", "/cities/1", `{"t":"poison"}`)
	d.index()
	var ended admin.Ended
	d.call(200, "POST", "/api/dead/retry?kind=cities&id=1", "", &ended)
	if ended != (admin.Ended{Done: 1}) {
		t.Errorf("the retry is answered %+v, want 1 done", ended)
	}
	d.call(404, "POST", "/api/dead/retry?kind=cities&id=1", "", nil) // it waits to be sent
	d.index()
	if got := d.dead(report.Cities, 10, ""); !slices.Equal(got, []string{"1"}) {
		t.Errorf("after the second refusal the dead letters are %v", got)
	}
	d.conserved()
}

func TestDeadLetterIsRetriedWithAnEditedBody(t *testing.T) {
	d := openDesk(t)
	d.deliver("POST", "/cities", `{"id":130,"code":"LON","t":"poison"}`)
	d.index()
	path := "/api/dead/letter?kind=cities&id=130"
	for _, wrong := range []string{`{`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}", `null`, ``} {
		status := 422
		if wrong == "" {
			status = 400
		}
		d.call(status, "PUT", path, wrong, nil)
	}
	d.call(413, "PUT", path, `{"t":"`+strings.Repeat("x", 10_000)+`"}`, nil)
	if got := d.dead(report.Cities, 10, ""); !slices.Equal(got, []string{"130"}) {
		t.Fatalf("dead letters after invalid bodies: %v", got)
	}
	var was admin.DeadLetter
	d.call(200, "GET", path, "", &was)
	var now admin.Replaced
	// As with PUT, the id of the document counts, whatever the body says.
	edited := `{"id":999,"code":"LHR","t":"well"}`
	d.call(200, "PUT", path, edited, &now)
	if now.Version <= was.Version {
		t.Errorf("version %d after %d", now.Version, was.Version)
	}
	if got := d.index(); len(got) != 1 || got["130"] != edited {
		t.Errorf("the index has %v", got)
	}
	// The city now has the code in the edited body.
	d.deliver("PUT", "/cities/LHR", `{"t":"by its code"}`)
	if got := d.index(); got["130"] != `{"t":"by its code"}` {
		t.Errorf("after a delivery to the new code the index has %v", got)
	}
	d.call(404, "PUT", path, edited, nil)
	d.conserved()
}

// TestRetryNeverOvertakes tries every way to bring an older version back.
func TestRetryNeverOvertakes(t *testing.T) {
	d := openDesk(t)
	letter := "/api/dead/letter?kind=cities&id=1"
	dies := func(body string) report.Version {
		d.deliver("PUT", "/cities/1", body)
		d.index()
		var l admin.DeadLetter
		d.call(200, "GET", letter, "", &l)
		return l.Version
	}
	first := dies(`{"t":"poison"}`)
	d.deliver("PUT", "/cities/1", `{"t":"newer"}`)
	d.call(404, "POST", "/api/dead/retry?kind=cities&id=1", "", nil)
	d.call(404, "PUT", letter, `{"t":"edited"}`, nil)
	if got := d.index(); len(got) != 1 || got["1"] != `{"t":"newer"}` {
		t.Errorf("the index has %v", got)
	}
	d.call(404, "POST", "/api/dead/retry?kind=cities&id=1", "", nil)

	// The newer version is refused as well, and the edited older one must not replace it.
	second := dies(`{"t":"newest poison"}`)
	detail := d.call(409, "PUT", fmt.Sprintf("%s&version=%d", letter, first), `{"t":"edited"}`, nil)
	if !strings.Contains(detail, fmt.Sprint(second)) {
		t.Errorf("the answer does not name the current version: %s", detail)
	}
	d.call(409, "POST", fmt.Sprintf("/api/dead/retry?kind=cities&id=1&version=%d", first), "", nil)
	d.call(409, "POST", fmt.Sprintf("/api/dead/drop?kind=cities&id=1&version=%d", first), "", nil)
	if got := d.index(); len(got) != 0 {
		t.Errorf("sent: %v", got)
	}
	d.call(200, "PUT", fmt.Sprintf("%s&version=%d", letter, second), `{"t":"edited"}`, nil)
	if got := d.index(); got["1"] != `{"t":"edited"}` {
		t.Errorf("sent: %v", got)
	}
	d.deliver("DELETE", "/cities/1", "")
	d.index()
	d.call(404, "POST", "/api/dead/retry?kind=cities&id=1", "", nil)
	d.conserved()
}

func TestAllDeadLettersOfAKindOrType(t *testing.T) {
	d := openDesk(t)
	fill := func() {
		for _, kind := range report.Kinds() {
			d.deliver("PUT", "/"+string(kind)+"/p", `{"t":"poison"}`)
			d.deliver("PUT", "/"+string(kind)+"/s", `{"t":"strict poison"}`)
		}
		d.index()
	}
	left := func() (all string) {
		for _, kind := range report.Kinds() {
			all += strings.Join(d.dead(kind, 10, ""), "") + " "
		}
		return all
	}
	for query, want := range map[string]struct {
		done int
		left string
	}{
		"?all=true":             {6, "   "},
		"?all=true&kind=cities": {2, " ps ps "},
		"?all=true&type=strict_dynamic_mapping_exception":                 {3, "p p p "},
		"?all=true&kind=advisories&type=strict_dynamic_mapping_exception": {1, "ps p ps "},
		"?all=true&type=nothing":                                          {0, "ps ps ps "},
	} {
		for _, what := range []string{"retry", "drop"} {
			fill()
			var ended admin.Ended
			d.call(200, "POST", "/api/dead/"+what+query, "", &ended)
			if got := left(); ended != (admin.Ended{Done: want.done}) || got != want.left {
				t.Errorf("%s%s: %+v, left %q, want %+v", what, query, ended, got, want)
			}
			d.index()
		}
	}
	d.call(400, "POST", "/api/dead/drop", "", nil)
	d.call(400, "POST", "/api/dead/drop?all=true&kind=countries", "", nil)
	d.call(405, "GET", "/api/dead/drop?all=true", "", nil)
	d.conserved()
}

// TestManyDeadLetters needs more than one batch.
func TestManyDeadLetters(t *testing.T) {
	d := openDesk(t)
	const many = 2500
	var changes []report.Change
	for i := range many {
		changes = append(changes, report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(fmt.Sprint(i))}, Op: report.Index, Body: []byte(`"poison"`)})
	}
	_, err := d.journal.Append(t.Context(), report.Delivery{Changes: changes})
	require.NoError(t, err)
	for range 3 {
		d.index()
	}
	var ended admin.Ended
	d.call(200, "POST", "/api/dead/retry?all=true&kind=cities", "", &ended)
	if ended.Done != many {
		t.Errorf("retried %d of %d", ended.Done, many)
	}
	for range 3 {
		d.index()
	}
	d.call(200, "POST", "/api/dead/drop?all=true&type=another", "", &ended)
	if ended.Done != 0 {
		t.Errorf("%d dead letters of an unused type were dropped", ended.Done)
	}
	d.call(200, "POST", "/api/dead/drop?all=true", "", &ended)
	if ended.Done != many || len(d.dead(report.Cities, 1000, "")) != 0 {
		t.Errorf("dropped %d of %d", ended.Done, many)
	}
	d.conserved()
}

func TestDroppedDeadLetterIsGone(t *testing.T) {
	d := openDesk(t)
	d.deliver("PUT", "/cities/1", `{"t":"poison"}`)
	d.index()
	d.call(200, "POST", "/api/dead/drop?kind=cities&id=1", "", nil)
	d.call(404, "POST", "/api/dead/drop?kind=cities&id=1", "", nil)
	d.call(404, "GET", "/api/dead/letter?kind=cities&id=1", "", nil)
	d.call(404, "POST", "/api/dead/retry?kind=cities&id=1", "", nil)
	d.deliver("PUT", "/cities/1", `{"t":"next"}`)
	if got := d.index(); got["1"] != `{"t":"next"}` {
		t.Errorf("after the next delivery the index has %v", got)
	}
	d.conserved()
}
