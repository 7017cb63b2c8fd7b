package transfer_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/journal/transfer"
	"riskdex/report"
)

// openNamedTest opens a journal of either engine.
func openNamedTest(t *testing.T, name string) journal.Journal {
	t.Helper()
	return openWith(t, name, journal.Options{History: 24 * time.Hour})
}

func openWith(t *testing.T, name string, opt journal.Options) journal.Journal {
	t.Helper()
	opt.Log = slog.New(slog.DiscardHandler)
	var j journal.Journal
	var err error
	if postgres.IsURL(name) {
		j, err = postgres.Open(t.Context(), name, opt)
	} else {
		j, err = sqlite.Open(t.Context(), name, opt)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// endpoint returns the journal with a name.
func endpoint(name string) transfer.Endpoint {
	if postgres.IsURL(name) {
		return postgres.Endpoint(name)
	}
	return sqlite.Endpoint(name)
}

func copyJournal(ctx context.Context, from, to string, progress func(transfer.Progress)) (transfer.Report, error) {
	return transfer.Copy(ctx, endpoint(from), endpoint(to), progress)
}

func closeTest(t *testing.T, j journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// engines returns names of journals that do not exist yet, of both engines.
func engines() map[string]func(t *testing.T) string {
	return map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "journal.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.URL(t) },
	}
}

// oddIDs are valid ids that PostgreSQL, SQLite or a shell might handle wrongly.
var oddIDs = []report.ID{"a\x00b", "a", "\x00", "A", "é", "\\x00", "\ufeffx", "\U0010ffff", "a'b\"c\n", "null", "130", "%2F", "~"}

// filler fills a journal with something of everything.
type filler struct {
	t *testing.T
	j journal.Journal
}

func (f filler) append(d report.Delivery) []report.Stamp {
	f.t.Helper()
	stamps, err := f.j.Append(f.t.Context(), d)
	if err != nil {
		f.t.Fatal(err)
	}
	return stamps
}

func (f filler) put(kind report.Kind, id report.ID, body string) report.Stamp {
	f.t.Helper()
	return f.append(report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: kind, ID: id}, Op: report.Index, Body: []byte(body)}}})[0]
}

// settle claims all of a kind, and settles each as outcome says.
func (f filler) settle(kind report.Kind, outcome func(report.Change) report.Outcome) {
	f.t.Helper()
	changes, err := f.j.Claim(f.t.Context(), kind, 1000, 1<<30)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range changes {
		s := report.Settlement{Key: c.Key, Version: c.Version, Outcome: outcome(c), ErrorType: "odd\x00type", Reason: "a reason\x00 of " + string(c.ID)}
		if err := f.j.Settle(f.t.Context(), []report.Settlement{s}); err != nil {
			f.t.Fatal(err)
		}
	}
}

func refused(id, body string) report.Refusal {
	return report.Refusal{At: time.Now(), Kind: report.Advisories, Method: "PUT", Path: "/advisories/x%00", Position: -1, ID: id,
		Reason: "invalid_json", Detail: "it is \xff not", Body: []byte(body), Cut: body == ""}
}

// fillAll delivers documents in every state, with and without origins and traces, and
// everything else that a journal keeps.
func fillAll(t *testing.T, j journal.Journal) {
	f := filler{t, j}
	must := func(n int, err error) {
		t.Helper()
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
	}
	for name, value := range map[string]string{report.PlaceNote(report.Cities): "here", report.RebuildFailedNote(report.Cities): "1 failed", "a later one": "x"} {
		must(1, j.Note(t.Context(), name, value))
	}
	for _, id := range oddIDs {
		f.put(report.Advisories, id, `{"id":"`+strings.Repeat("x", 3000)+`"}`)
	}
	// An older refusal, and one after a delivery that clears none.
	f.append(report.Delivery{Refusals: []report.Refusal{refused("kept", "{"), refused("", ""), refused("Dropped", "\x00\xff")}})
	f.put(report.Advisories, "dead", "{}")
	f.put(report.Advisories, "retried", "{}")
	f.put(report.Advisories, "dropped", "{}")
	f.append(report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Advisories, ID: "gone"}, Op: report.Delete}}})
	f.settle(report.Advisories, func(c report.Change) report.Outcome {
		switch {
		case slices.Contains([]report.ID{"dead", "retried", "dropped"}, c.ID):
			return report.Dead
		case c.Op == report.Delete:
			return report.Deleted
		}
		return report.Indexed
	})
	ctx := t.Context()
	letters, err := j.DeadLetters(ctx, report.Advisories, "", 10)
	if err != nil || len(letters) != 3 {
		t.Fatal(letters, err)
	}
	for _, l := range letters {
		stamps := []report.Stamp{{Key: l.Key, Version: l.Version}}
		switch l.ID {
		case "retried":
			must(j.RetryDead(ctx, stamps))
		case "dropped":
			must(j.DropDead(ctx, stamps))
		}
	}
	entries, err := j.Lookup(ctx, report.Advisories, []report.ID{"a\x00b"})
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	must(j.Reissue(ctx, []report.Stamp{entries[0].Stamp}))
	// Settled once more, so that it has an origin, and others are to be sent again.
	f.settle(report.Advisories, func(report.Change) report.Outcome { return report.Indexed })
	f.put(report.SpecialReports, "again", "{}")
	f.put(report.SpecialReports, "again", "{}")
	f.settle(report.SpecialReports, func(report.Change) report.Outcome { return report.Indexed })
	must(report.ResendAll(ctx, j, report.SpecialReports))

	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	f.append(report.Delivery{
		Changes: []report.Change{
			{Key: report.Key{Kind: report.Cities, ID: "130"}, Op: report.Index, Code: "LON", Body: []byte(`{"n":1}`), Trace: trace},
			{Key: report.Key{Kind: report.Cities, ID: "131"}, Op: report.Index, Code: "LON", Body: []byte(`{"n":2}`)},
		},
		Receipt: &report.Receipt{Sender: "s\x00", ID: "1", Digest: []byte{0}, Answer: nil},
	})
	f.append(report.Delivery{
		Changes: []report.Change{{Key: report.Key{Kind: report.Cities, ID: "131"}, Op: report.Index, Code: "LON", Body: []byte(`{"n":3}`)}},
		Source:  report.Source{Sender: "s\x00", Address: "192.0.2.7", Call: "PUT /cities/%00é", Request: "req-1"},
	})
	f.append(report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Cities, ID: "131"}, Op: report.Delete}}})
	f.put(report.Probe, "probe", "{}")
	list, err := j.Refusals(ctx, 0, 10)
	if err != nil || len(list) != 3 || list[0].ID != "Dropped" {
		t.Fatal(list, err)
	}
	must(j.DropRefusals(ctx, []int64{list[0].Seq})) // the highest number so far
}

// everything returns all of a journal that an operator or the indexer could see.
func everything(t *testing.T, name string) map[string]any {
	t.Helper()
	j := openNamedTest(t, name)
	defer closeTest(t, j)
	ctx, all := t.Context(), map[string]any{}
	note := func(what string, v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(what, err)
		}
		all[what] = v
	}
	stats, err := j.Stats(ctx)
	note("totals", stats.Kinds, err)
	note("refused", stats.Refused, nil)
	note("line", j.Lineage(), nil)
	note("notes", stats.Notes, nil)
	for _, k := range report.AllKinds() {
		entries, err := j.Entries(ctx, k, "", 1000)
		note("entries of "+string(k), entries, err)
		for _, e := range entries {
			past, err := j.History(ctx, e.Key, math.MaxInt64, 100)
			note(fmt.Sprintf("history of %q", e.ID), past, err)
			for _, p := range past {
				whole, err := j.PastVersion(ctx, e.Key, p.Version)
				if len(whole.Body) == 0 {
					whole.Body = nil
				}
				note(fmt.Sprintf("version %d of %q", p.Version, e.ID), whole, err)
			}
		}
		letters, err := j.DeadLetters(ctx, k, "", 1000)
		note("letters of "+string(k), slices.Concat(letters), err)
		for _, l := range letters {
			whole, err := j.DeadLetter(ctx, l.Key)
			note(fmt.Sprintf("letter %q", l.ID), whole, err)
		}
	}
	refusals, err := j.Refusals(ctx, 0, 1000)
	note("refusals", refusals, err)
	for _, r := range refusals {
		whole, err := j.Refusal(ctx, r.Seq)
		if len(whole.Body) == 0 {
			whole.Body = nil
		}
		note(fmt.Sprint("refusal ", r.Seq), whole, err)
	}
	for _, k := range report.AllKinds() { // a restart releases this
		claimed, err := j.Claim(ctx, k, 1000, 1<<30)
		note("waiting of "+string(k), claimed, err)
	}
	return all
}

// TestCopy copies from every engine to every engine, and back.
func TestCopy(t *testing.T) {
	for from, newFrom := range engines() {
		for to, newTo := range engines() {
			t.Run(from+" to "+to, func(t *testing.T) {
				first, second, third := newFrom(t), newTo(t), newFrom(t)
				j := openNamedTest(t, first)
				fillAll(t, j)
				closeTest(t, j)
				var at transfer.Progress
				made, err := copyJournal(t.Context(), first, second, func(p transfer.Progress) { at = p })
				if err != nil {
					t.Fatal(err)
				}
				if want := int64(len(oddIDs) + 4 + 1 + 2 + 1); made.Documents != want || made.Refusals != 2 || made.Receipts != 1 || made.History != want+3 || made.Damaged != 0 || made.Loss.Lost() {
					t.Errorf("the copy reported %+v, want %d documents", made, want)
				}
				if want := (transfer.Progress{Checking: true, Done: made.Documents, Total: made.Documents}); at != want {
					t.Errorf("progress ends at %+v, want %+v", at, want)
				}
				back, err := copyJournal(t.Context(), second, third, nil)
				if err != nil || back.Checksum != made.Checksum || !reflect.DeepEqual(back, made) {
					t.Fatalf("copying back reported %+v, %v; want %+v", back, err, made)
				}
				want := everything(t, first)
				for _, name := range []string{second, third} {
					for what, got := range everything(t, name) {
						if !reflect.DeepEqual(got, want[what]) {
							t.Errorf("%s: %s\n got %+v\nwant %+v", name, what, got, want[what])
						}
					}
				}
				goesOn(t, second, made)
				goesOn(t, third, made)
			})
		}
	}
}
