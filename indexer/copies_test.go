package indexer_test

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"riskdex/indexer/indexertest"
	"riskdex/internal/elasticserver/elastictest"
	"riskdex/internal/postgres/postgrestest"
	"riskdex/internal/require"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/journal/transfer"
	"riskdex/report"
)

// places returns the places of two journals of an engine, and what copies the first to the second.
func places(t *testing.T, engine string) (a, b indexertest.Parts, copies func()) {
	t.Helper()
	prefix := elastictest.Prefix(t)
	a, b = indexertest.Parts{Prefix: prefix}, indexertest.Parts{Prefix: prefix}
	if engine == "PostgreSQL" {
		a.Postgres, b.Postgres = postgrestest.Schema(t, postgrestest.URL(t)), postgrestest.Schema(t, postgrestest.URL(t))
	} else {
		a.File, b.File = filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "b.db")
	}
	of := func(p indexertest.Parts) transfer.Endpoint {
		if p.Postgres != "" {
			return postgres.Endpoint(p.Postgres)
		}
		return sqlite.Endpoint(p.File)
	}
	return a, b, func() {
		_, err := transfer.Copy(t.Context(), of(a), of(b), nil)
		require.NoError(t, err)
	}
}

// used runs a riskdex on a journal until it has delivered a city with a text, and stops it unless it is
// to stay.
func used(t *testing.T, p indexertest.Parts, id, text string, stay bool) *rig {
	t.Helper()
	r := assembleOf(t, rebuilding(), p)
	r.Run()
	r.Append(indexertest.Index(report.Cities, id, `{"title":"`+text+`"}`))
	r.Drained()
	if !stay {
		r.ends()
	}
	return r
}

func (r *rig) ends() {
	r.T.Helper()
	r.Stop()
	require.NoError(r.T, r.Journal.Close())
}

// isLeft checks that the index has the titles of these cities, and no other.
func (r *rig) isLeft(want map[string]string) {
	r.T.Helper()
	got := map[string]string{}
	for _, id := range []string{"1", "2", "3"} {
		if d := r.Document(report.Cities, id); d != nil {
			got[id], _ = d["title"].(string)
		}
	}
	if !maps.Equal(got, want) {
		r.T.Errorf("the index has %v, want %v", got, want)
	}
}

// TestOriginalOfACopyIsLeftOut: once a copy fills the indices, the journal that it was made of leaves
// them alone, until a person has it take over; then it is the copy that does.
func TestOriginalOfACopyIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"SQLite", "PostgreSQL"} {
		t.Run(engine, func(t *testing.T) {
			a, b, copies := places(t, engine)
			used(t, a, "1", "original", false)
			copies()
			second := used(t, b, "2", "copy", true)
			first := assembleOf(t, rebuilding(), a)
			first.Append(indexertest.Index(report.Cities, "3", `{"title":"original"}`), indexertest.Index(report.Cities, "2", `{"title":"original"}`))
			first.Run()
			for _, kind := range report.Kinds() {
				first.Eventually("the original is left out", func() bool { return first.waitsFor(kind) == "another_journal" })
			}
			second.Append(indexertest.Index(report.Cities, "1", `{"title":"copy"}`))
			second.Drained()
			first.isLeft(map[string]string{"1": "copy", "2": "copy"})
			for _, r := range []*rig{first, second} {
				if l := r.Stats().Loss; l.Lost() {
					t.Errorf("it lacks %+v, and nothing was set back", l)
				}
			}
			require.NoError(t, first.Indexer.TakeOver(report.Cities))
			first.reaches(report.PhaseDone)
			second.Eventually("the copy is left out", func() bool { return second.waitsFor(report.Cities) == "another_journal" })
			first.isLeft(map[string]string{"1": "original", "2": "original", "3": "original"})
			second.ends()
			second = assembleOf(t, rebuilding(), b)
			second.Run()
			second.Eventually("the copy is left out after a start, too", func() bool { return second.waitsFor(report.Cities) == "another_journal" })
			first.isLeft(map[string]string{"1": "original", "2": "original", "3": "original"})
		})
	}
}

// TestCopyThatLacksSomethingAdoptsNothing: where the original has gone on since it was copied, the copy
// leaves the index alone, until somebody has acknowledged what it lacks. The original is not disturbed.
func TestCopyThatLacksSomethingAdoptsNothing(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"SQLite", "PostgreSQL"} {
		t.Run(engine, func(t *testing.T) {
			a, b, copies := places(t, engine)
			used(t, a, "1", "original", false)
			copies()
			first := used(t, a, "2", "original", true)
			second := assembleOf(t, rebuilding(), b)
			second.Append(indexertest.Index(report.Cities, "1", `{"title":"copy"}`))
			second.Run()
			second.Eventually("the copy adopts nothing, and lacks something", func() bool {
				return second.waitsFor(report.Cities) == "another_journal" && second.Stats().Loss.Lost()
			})
			first.Append(indexertest.Index(report.Cities, "3", `{"title":"original"}`))
			first.Drained()
			second.isLeft(map[string]string{"1": "original", "2": "original", "3": "original"})
			if first.waitsFor(report.Cities) != "" || first.Stats().Loss.Lost() {
				t.Error("the original is disturbed")
			}
			first.ends()
			second.ends()
			second = assembleOf(t, rebuilding(), b)
			second.Run()
			second.Eventually("the loss is known", func() bool { return second.Stats().Loss.Until.UnixMicro() >= int64(second.InIndex("3")) })
			_, err := second.Journal.AcknowledgeLoss(t.Context())
			require.NoError(t, err)
			second.Drained()
			if d := second.Document(report.Cities, "1"); d["title"] != "copy" {
				t.Errorf("after that the document is %v, want that of the copy", d)
			}
		})
	}
}

// TestFileCopiedByHandIsNoticed: nothing tells it from its original but what the index has, at the start
// and while both are used.
func TestFileCopiedByHandIsNoticed(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"at the start": false, "while it runs": true} {
		t.Run(name, func(t *testing.T) {
			a, b, _ := places(t, "SQLite")
			used(t, a, "1", "original", false)
			text, err := os.ReadFile(a.File)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(b.File, text, 0o600))
			var first *rig
			if running {
				first = assembleOf(t, rebuilding(), a)
				first.Run()
				first.Drained()
			}
			used(t, b, "2", "copy", true)
			if !running {
				first = assembleOf(t, rebuilding(), a)
				first.Run()
			}
			first.Eventually("it is told", func() bool { return first.Stats().Loss.Lost() })
			first.isLeft(map[string]string{"1": "original", "2": "copy"})
		})
	}
}

// TestDatabaseMadeFromATemplate: a database that the server has copied has the same content, and knows
// by its name that it is a copy.
func TestDatabaseMadeFromATemplate(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	admin, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	defer admin.Close(t.Context())
	database := func(name, from string) indexertest.Parts {
		_, err := admin.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+from)
		require.NoError(t, err)
		at, err := url.Parse(server.URL())
		require.NoError(t, err)
		at.Path = "/" + name
		return indexertest.Parts{Postgres: at.String()}
	}
	a := database("a", "template0")
	a.Prefix = elastictest.Prefix(t)
	used(t, a, "1", "original", false)
	b := database("b", "a")
	late := database("late", "a")
	b.Prefix, late.Prefix = a.Prefix, a.Prefix
	second := used(t, b, "2", "copy", true)
	for _, p := range []indexertest.Parts{a, late} {
		other := assembleOf(t, rebuilding(), p)
		other.Append(indexertest.Index(report.Cities, "2", `{"title":"other"}`))
		other.Run()
		other.Eventually("the other is left out", func() bool { return other.waitsFor(report.Cities) == "another_journal" })
	}
	second.Append(indexertest.Index(report.Cities, "3", `{"title":"copy"}`))
	second.Drained()
	second.isLeft(map[string]string{"1": "original", "2": "copy", "3": "copy"})
	if second.Stats().Loss.Lost() {
		t.Error("the one that fills the index lacks something")
	}
}

// TestIndexOfNobody: an index with documents that does not say whose it is is left alone, and the
// journal was not set back.
func TestIndexOfNobody(t *testing.T) {
	t.Parallel()
	r := assemble(t, rebuilding())
	r.Change("PUT", "/"+r.Indices.Index(report.Cities, 1), `{"aliases":{"`+r.Indices.Alias(report.Cities)+`":{}},"mappings":{"properties":{"version":{"type":"long"}}}}`)
	r.Change("PUT", "/"+r.Indices.Index(report.Cities, 1)+"/_doc/1"+indexertest.External(inDays(0)), `{"source":{"title":"by hand"},"version":1}`)
	r.Change("PUT", "/"+r.Indices.Index(report.Cities, 1)+"/_doc/2?version_type=external&version=77", `{"source":{"title":"by hand"},"version":77}`)
	r.Append(indexertest.Index(report.Cities, "1", `{"title":"delivered"}`))
	r.Run()
	r.Eventually("it is left alone", func() bool { return r.waitsFor(report.Cities) == "another_journal" })
	r.isLeft(map[string]string{"1": "by hand", "2": "by hand"})
	if l := r.Stats().Loss; l.Lost() {
		t.Errorf("it lacks %+v, and was not set back", l)
	}
	require.NoError(t, r.Indexer.TakeOver(report.Cities))
	r.reaches(report.PhaseDone)
	r.isLeft(map[string]string{"1": "delivered"})
}

// TestEmptyIndexOfNobody is used.
func TestEmptyIndexOfNobody(t *testing.T) {
	t.Parallel()
	r := assemble(t, rebuilding())
	r.Change("PUT", "/"+r.Indices.Index(report.Cities, 1), `{"aliases":{"`+r.Indices.Alias(report.Cities)+`":{}}}`)
	r.Append(indexertest.Index(report.Cities, "1", `{"title":"delivered"}`))
	r.Run()
	r.Drained()
	r.isLeft(map[string]string{"1": "delivered"})
}
