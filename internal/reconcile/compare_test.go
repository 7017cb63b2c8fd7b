package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"riskdex/internal/exportline"
	"riskdex/internal/push"
	"riskdex/report"
)

// since is the version before which the lists of these tests were not made.
const since = 100

// here returns a document that was delivered before.
func here(id, code, record string) exportline.Line {
	return exportline.Line{
		Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Code: code, Record: []byte(record),
		Version: 7, AcceptedAt: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC),
	}
}

// found compares, and returns what differs as text.
func found(l *List, documents ...exportline.Line) (string, *Comparison) {
	c := Compare(l, since)
	for _, d := range documents {
		c.Add(d)
	}
	c.End()
	var all []string
	for _, f := range c.Found {
		all = append(all, fmt.Sprintf("%s %s", f.Problem, f.ID))
	}
	return strings.Join(all, ", "), c
}

func TestCompare(t *testing.T) {
	newer := here("9", "", `{"id":9}`)
	newer.Version = since + 1
	changed := here("1", "", `{"id":1,"a":2}`)
	changed.Version = since + 1
	lost := here("1", "", "")
	lost.Lost = report.LostDamaged
	for name, c := range map[string]struct {
		list string
		here []exportline.Line
		want string
	}{
		"ids":                                      {"1\n2\n", []exportline.Line{here("1", "", "{}"), here("2", "", "{}")}, ""},
		"ids that differ":                          {"1\n2\n4\n", []exportline.Line{here("1", "", "{}"), here("3", "", "{}")}, "missing 2, missing 4, surplus 3"},
		"the same record":                          {`[{"id":1,"a":2}]`, []exportline.Line{here("1", "", `{"a":2,"id":1}`)}, ""},
		"another record":                           {`[{"id":1,"a":2}]`, []exportline.Line{here("1", "", `{"a":3,"id":1}`)}, "differs 1"},
		"the last of several":                      {`[{"id":1,"a":3},{"id":1,"a":2}]`, []exportline.Line{here("1", "", `{"a":2,"id":1}`)}, ""},
		"delivered since":                          {`[{"id":1,"a":1}]`, []exportline.Line{changed, newer}, "newer 1, newer 9"},
		"the same since":                           {`[{"id":1,"a":2}]`, []exportline.Line{changed}, ""},
		"without its record":                       {"1\n", []exportline.Line{lost}, "differs 1"},
		"a city by its code":                       {"LON\n", []exportline.Line{here("130", "LON", "{}"), here("131", "PAR", "{}")}, "surplus 131"},
		"a city by its code, small":                {"lon\n", []exportline.Line{here("130", "LON", "{}")}, ""},
		"a city by its new code":                   {"QQB\n", []exportline.Line{here("130", "QQA", "{}")}, "missing QQB, surplus 130"},
		"a city by its new code, in a record":      {`[{"code":"QQB"}]`, []exportline.Line{here("130", "QQA", "{}")}, "missing QQB, surplus 130"},
		"a city by its code and id":                {"LON\n130\n", []exportline.Line{here("130", "LON", "{}")}, ""},
		"a code of one that is listed and another": {"LON\n130\n", []exportline.Line{here("130", "LON", "{}"), here("131", "LON", "{}")}, "ambiguous LON"},
		"a city whose id is a code":                {"LON\n", []exportline.Line{here("130", "LON", "{}"), here("LON", "", "{}")}, "surplus 130"},
		"a code of several cities":                 {"LON\n", []exportline.Line{here("130", "LON", "{}"), here("131", "LON", "{}"), here("132", "LON", "{}")}, "ambiguous LON"},
		"an id that looks like a code":             {`[{"id":"LON"}]`, []exportline.Line{here("130", "LON", "{}")}, "missing LON, surplus 130"},
		"a record with a code alone":               {`[{"code":"LON"}]`, []exportline.Line{here("130", "LON", `{"code":"LON"}`)}, ""},
		"another one":                              {`[{"code":"LON"}]`, []exportline.Line{here("130", "LON", `{"code":"LON","id":130}`)}, "differs 130"},
		"a city that is to get its id":             {`[{"id":130,"code":"LON"}]`, []exportline.Line{here("LON", "LON", `{"code":"LON"}`)}, "differs LON"},
		"a city that has its id":                   {`[{"id":130,"code":"LON"}]`, []exportline.Line{here("130", "LON", `{"id":130,"code":"LON"}`), here("LON", "LON", `{"code":"LON"}`)}, "surplus LON"},
		"a city with the code of one":              {`[{"id":130,"code":"LON"}]`, []exportline.Line{here("131", "LON", `{"id":131,"code":"LON"}`)}, "missing 130, surplus 131"},
		"an export":                                {`{"kind":"cities","id":"130","code":"LON","record":{"a":1}}`, []exportline.Line{here("130", "LON", `{ "a": 1 }`)}, ""},
		"ids in other letters":                     {"lon\nLON\n", []exportline.Line{here("LON", "", "{}"), here("lon", "", "{}")}, ""},
	} {
		l, err := Read(strings.NewReader(c.list), report.Cities, payloads(t), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, cmp := found(l, c.here...)
		if got != c.want || cmp.Here != len(c.here) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, p := range Problems() {
			if n := strings.Count(c.want, string(p)+" "); cmp.Count(p) != n {
				t.Errorf("%s: %d %s", name, cmp.Count(p), p)
			}
		}
	}
}

func TestExplainWhatIsMissing(t *testing.T) {
	l, err := Read(strings.NewReader("1\n2\n3\n4\n5\n"), report.Cities, payloads(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, c := found(l, here("5", "", "{}"), here("9", "", "{}"))
	asked := 0
	if err := c.Explain(3, func(f *Finding) error {
		asked++
		switch f.ID {
		case "1":
			f.Deleted, f.Version = true, since
		case "2":
			f.Deleted, f.Version = true, since+1
		}
		return nil
	}); err != nil || asked != 3 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	if c.Count(Missing) != 3 || c.Count(Newer) != 1 || c.Count(Surplus) != 1 || c.With(Newer)[0].ID != "2" || !c.With(Missing)[0].Deleted {
		t.Errorf("found %+v", c.Found)
	}
}

func TestListOfAFolder(t *testing.T) {
	request := func(method, path, body string) push.Request {
		return push.Request{Method: method, Path: path, Body: []byte(body), What: path}
	}
	requests := []push.Request{
		request("POST", "/cities", `{"cities":[{"id":1},{"id":2,"code":"PAR"},{"title":"no id"}]}`),
		request("POST", "/advisories", `[{"id":1}]`),
		request("PUT", "/cities/a%2Fb", `{"t":1}`),
		request("PUT", "/cities/LON", `{"id":130,"code":"LON"}`),
		request("PUT", "/cities/ROM", `{"t":1}`),
		request("DELETE", "/cities/1", ""),
		request("DELETE", "/cities/77", ""),
		request("DELETE", "/special-reports/77", ""),
	}
	l, err := FromRequests(requests, report.Cities, payloads(t))
	if err != nil || l.names() != "(1) =2 a/b =130 (LON) ROM" || l.Unread != 1 || l.Len() != 4 {
		t.Fatalf("%v, %+v", err, l)
	}
	got, _ := found(l, here("1", "", `{"id":1}`), here("2", "PAR", `{"id":2,"code":"PAR"}`), here("LON", "LON", `{"id":130,"code":"LON"}`), here("7", "ROM", `{"t":1}`), here("a/b", "", `{}`))
	if got != "missing 130, surplus 1, differs a/b" {
		t.Errorf("found %q", got)
	}
	if l, err := FromRequests(requests, report.SpecialReports, payloads(t)); l != nil || err != nil {
		t.Errorf("of a kind with a DELETE alone: %v, %+v", err, l)
	}
	for _, body := range []string{"[]", "[", `{"a":1}`} {
		if l, err := FromRequests([]push.Request{request("POST", "/cities", body)}, report.Cities, payloads(t)); err == nil {
			t.Errorf("%s is %+v", body, l)
		}
	}
}

// TestFolderByCode: what is put by the code that a record states is for the city of that record.
func TestFolderByCode(t *testing.T) {
	request := func(method, path, body string) push.Request {
		return push.Request{Method: method, Path: path, Body: []byte(body), What: path}
	}
	all := request("POST", "/cities", `[{"id":1,"code":"TPE"},{"id":2,"code":"PAR"},{"id":3,"code":"QQQ"},{"id":4,"code":"QQQ"}]`)
	documents := func(one string) []exportline.Line {
		return []exportline.Line{here("1", "TPE", one), here("2", "PAR", `{"id":2,"code":"PAR"}`), here("3", "QQQ", `{"id":3,"code":"QQQ"}`), here("4", "QQQ", `{"id":4,"code":"QQQ"}`)}
	}
	for name, c := range map[string]struct {
		requests []push.Request
		one      string // the record of the city 1
		also     []exportline.Line
		want     string
	}{
		"in place of its record":      {[]push.Request{request("PUT", "/cities/TPE", `{"t":1}`)}, `{"t":1}`, nil, ""},
		"in other letters":            {[]push.Request{request("PUT", "/cities/tpe", `{"t":1}`)}, `{"t":1}`, nil, ""},
		"and something else is here":  {[]push.Request{request("PUT", "/cities/TPE", `{"t":1}`)}, `{"t":2}`, nil, "differs 1"},
		"twice":                       {[]push.Request{request("PUT", "/cities/TPE", `{"t":1}`), request("PUT", "/cities/TPE", `{"t":2}`)}, `{"t":2}`, nil, ""},
		"by its id afterwards":        {[]push.Request{request("PUT", "/cities/TPE", `{"t":1}`), request("PUT", "/cities/1", `{"t":2}`)}, `{"t":2}`, nil, ""},
		"deleted":                     {[]push.Request{request("DELETE", "/cities/TPE", "")}, `{"id":1,"code":"TPE"}`, nil, "surplus 1"},
		"put and deleted":             {[]push.Request{request("PUT", "/cities/TPE", `{"t":1}`), request("DELETE", "/cities/tpe", "")}, `{"t":1}`, nil, "surplus 1"},
		"and that is an id here":      {[]push.Request{request("PUT", "/cities/TPE", `{"t":1}`)}, `{"t":1}`, []exportline.Line{here("TPE", "", `{"t":1}`)}, ""},
		"a code of two is nobody's":   {[]push.Request{request("PUT", "/cities/QQQ", `{"t":1}`)}, `{"id":1,"code":"TPE"}`, nil, "ambiguous QQQ"},
		"a code of two, for a DELETE": {[]push.Request{request("DELETE", "/cities/QQQ", "")}, `{"id":1,"code":"TPE"}`, nil, ""},
	} {
		l, err := FromRequests(append([]push.Request{all}, c.requests...), report.Cities, payloads(t))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := found(l, append(documents(c.one), c.also...)...); got != c.want {
			t.Errorf("%s: found %q, want %q; the list is %s", name, got, c.want, l.names())
		}
	}
}

// TestDoubts: nothing is removed unless the list is exactly what is here, but for that. Each list
// is of three documents, of which one is to be removed.
func TestDoubts(t *testing.T) {
	lost := here("2", "", "")
	lost.Lost = report.LostDropped
	since2 := here("2", "", `{"id":2,"a":2}`)
	since2.Version = since + 1
	for list, c := range map[string]struct {
		here []exportline.Line
		want string
	}{
		"1\n2\n":              {nil, ""},
		`["1",2]`:             {nil, ""},
		`[{"id":1},{"id":2}]`: {nil, ""},
		"1\n2\nERROR: canceling statement due to timeout\n": {nil, "'ERROR: canceling statement due to timeout', which is not here"},
		"1\n2\nKilled\n":                  {nil, "Killed, which is not here"},
		"1\n2\n(2 rows)\n":                {nil, "'(2 rows)', which is not here"},
		"1\n2\nNULL\n":                    {nil, "NULL, which is not here"},
		"# cities, page 1 of 3\n1\n2\n":   {nil, "page 1 of 3', which is not here"},
		"id\n1\n2\n":                      {nil, "id, which is not here"},
		"1;London\n2;Paris\n":             {nil, "'1;London', which is not here: deliver it first, as push --replace does, or take it out if it is not an id (and 1 more"},
		"1\tLondon\n2\tParis\n":           {nil, "which is not here"},
		"1\n2\n<html>\n":                  {nil, "'<html>', which is not here"},
		"1\n2\n{\"error\":\"timeout\"}\n": {nil, "which is not here"},
		"{\"id\":1}\n{\"id\":2}\n{\"error\":\"timeout\"}\n":    {nil, "an entry without an id"},
		"{\"id\":1}\n{\"id\":2}\n{\"id\":\"1\",\"error\":1}\n": {nil, "has 1 twice"},
		"1\n02\n":                   {nil, "02, which is not here"},
		"1\n2.0\n":                  {nil, "2.0, which is not here"},
		"1\n'2\n":                   {nil, "which is not here"},
		"1\n\"2\"\n":                {nil, "which is not here"},
		"1\n%32\n":                  {nil, "%32, which is not here"},
		`[{"id":1},{"id":2,"a":1}]`: {nil, "another record of 2 than riskdex"},

		// What is here in spellings of its own.
		"1\nabc-4\n":  {[]exportline.Line{here("ABC-4", "", "{}"), here("abc-4", "", "{}")}, "the list has abc-4, which may be another spelling of ABC-4"},
		"1\n7\n":      {[]exportline.Line{here("007", "", "{}"), here("7", "", "{}")}, "may be another spelling of 007"},
		"1\nZürich\n": {[]exportline.Line{here("Zu\u0308rich", "", "{}"), here("Zürich", "", "{}")}, "may be another spelling"},
		"1\na b\n":    {[]exportline.Line{here("a-b", "", "{}"), here("a b", "", "{}")}, "may be another spelling"},
		"1\n１2\n":     {[]exportline.Line{here("12", "", "{}"), here("１2", "", "{}")}, "may be another spelling"},
		"1\n1-12\n":   {[]exportline.Line{here("11-2", "", "{}"), here("1-12", "", "{}")}, ""},
		"1\nLON\n":    {[]exportline.Line{here("130", "LON", "{}"), here("LON", "", "{}")}, "the list has LON, which may be another spelling of 130"},
		"1\nPAR\n":    {[]exportline.Line{here("131", "PAR", "{}")}, "the list has the code of city 131"},
		"1\nROM\n":    {[]exportline.Line{here("131", "ROM", "{}"), here("132", "ROM", "{}")}, "a code of several cities"},

		// What the list has no part in.
		"2\n1\n":              {[]exportline.Line{lost, here("1", "", "{}")}, ""},
		`[{"id":2},{"id":1}]`: {[]exportline.Line{since2, here("1", "", `{"id":1}`)}, ""},
	} {
		if c.here == nil {
			c.here = []exportline.Line{here("1", "", `{"id":1}`), here("2", "", `{"id":2}`)}
		} else {
			c.here = append(c.here, here("1", "", `{"id":1}`))
		}
		l, err := Read(strings.NewReader(list), report.Cities, payloads(t), nil)
		if err != nil {
			t.Fatalf("%q: %v", list, err)
		}
		_, compared := found(l, append(c.here, here("3", "", "{}"))...)
		got := strings.Join(compared.Doubts(false), "\n")
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") || compared.Count(Surplus) == 0 {
			t.Errorf("%q: the doubts are %q, want %q; %+v", list, got, c.want, compared.Found)
		}
	}
}
