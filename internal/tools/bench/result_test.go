package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResults(t *testing.T) {
	all := []result{
		told("limit", 1234.5, "documents/s"),
		told("burst", 900, "documents/s").beside(1000).ratioAtLeast(0.7),
		told("median", 4.04, "ms").beside(0.5).atMost(4),
		told("cost", 3, "s").beside(10).ratioAtMost(0.25),
		told("away", 12_000, "deliveries/s").atLeast(10_000),
	}
	const want = `
| measure | value              | limit | ratio | target               | met |
| ------- | ------------------ | ----- | ----- | -------------------- | --- |
| limit   | 1234 documents/s   |       |       |                      |     |
| burst   | 900 documents/s    | 1000  | 0.90  | ratio ≥ 0.7          | yes |
| median  | 4.04 ms            | 0.5   | 8.08  | ≤ 4 ms               | no  |
| cost    | 3 s                | 10    | 0.30  | ratio ≤ 0.25         | no  |
| away    | 12000 deliveries/s |       |       | ≥ 10000 deliveries/s | yes |
`
	if got := table(all); got != want[1:] {
		t.Errorf("the table is\n%s", got)
	}
	var lines bytes.Buffer
	for _, r := range all[:2] {
		if err := writeJSON(&lines, r); err != nil {
			t.Fatal(err)
		}
	}
	const wantJSON = `{"measure":"limit","value":1234.5,"unit":"documents/s","limit":null,"ratio":null,"target":null,"met":null}
{"measure":"burst","value":900,"unit":"documents/s","limit":1000,"ratio":0.9,"target":"ratio ≥ 0.7","met":true}
`
	if lines.String() != wantJSON {
		t.Errorf("as JSON:\n%s", lines.String())
	}
}

func TestTableTakesItsPlaceInAPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Before\n\n"+tableBegins+"\nold\n"+tableEnds+"\n\nAfter.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := []result{told("beside", 1, "s").beside(2), told("aimed", 1, "s").atMost(2)}
	for range 2 { // the second table replaces the first
		if err := writeInto(page, "When and where.", append([]result{told("alone", 1, "s")}, kept...)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Before\n\n" + tableBegins + "\n\nWhen and where.\n\n" + table(kept) + "\n" + tableEnds + "\n\nAfter.\n"
	if string(text) != want {
		t.Errorf("the page is\n%s", text)
	}
	if err := os.WriteFile(page, []byte("# Before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeInto(page, "", nil); err == nil || !strings.Contains(err.Error(), tableBegins) {
		t.Errorf("a page without a place for the table: %v", err)
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		command runCommand
		want    string
	}{
		{runCommand{}, "burst mapping snapshot freshness churn away idle rates refresh history processes growth"},
		{runCommand{Short: true}, "burst mapping snapshot freshness churn away idle"},
		{runCommand{Short: true, Only: []string{"growth"}}, "growth"},
		{runCommand{Only: []string{"idle", "burst"}}, "burst idle"},
	} {
		wanted, err := c.command.parts()
		var names []string
		for _, p := range wanted {
			names = append(names, p.name)
		}
		if err != nil || strings.Join(names, " ") != c.want {
			t.Errorf("%+v selects %v, %v", c.command, names, err)
		}
	}
	if _, err := (runCommand{Only: []string{"brust"}}).parts(); err == nil || !strings.Contains(err.Error(), "brust") {
		t.Errorf("an unknown part returned %v", err)
	}
}
