package transfer_test

import (
	"path/filepath"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/report"
)

// TestCopyKeepsDamage copies a damaged record, and copies the copy back: it is named, and
// never given out.
func TestCopyKeepsDamage(t *testing.T) {
	for _, damage := range []string{
		"body = CAST(replace(body, 'yy', 'yz') AS BLOB)",
		"body = NULL",
		"version = version + 1",
		"op = 'delete'",
		"code = 'PAR'",
		"accepted_at = accepted_at + 1",
		"crc = crc + 1",
		"crc = -1",
	} {
		t.Run(damage, func(t *testing.T) {
			first, second, third := damagedFile(t, damage), postgrestest.URL(t), filepath.Join(t.TempDir(), "copy.db")
			for _, way := range [][2]string{{first, second}, {second, third}} {
				r, err := copyJournal(t.Context(), way[0], way[1], nil)
				if err != nil || r.Documents != 3 || r.Damaged != 1 || len(r.Named) != 1 || r.Named[0].ID != "1" {
					t.Fatalf("the copy reported %+v, %v; want document 1 named as damaged", r, err)
				}
			}
			for _, name := range []string{second, third} {
				j := openNamedTest(t, name)
				got, err := j.Claim(t.Context(), report.Cities, 10, 1<<20)
				if err != nil || len(got) != 2 || got[0].ID != "0" || got[1].ID != "2" {
					t.Errorf("given out: %v, %v", got, err)
				}
				l, err := j.DeadLetter(t.Context(), report.Key{Kind: report.Cities, ID: "1"})
				if err != nil || l.ErrorType != report.ErrorTypeDamaged || l.Body != nil {
					t.Errorf("the dead letter: %+v, %v", l, err)
				}
				closeTest(t, j)
			}
		})
	}
}

// loosely runs a statement on a table of documents that accepts any type.
func loosely(query string) []string {
	change := func(from, to string) string {
		return `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = substr(sql, 1, length(sql) - length('` + from + `')) || '` + to + `'
			WHERE name = 'documents'; PRAGMA writable_schema = RESET`
	}
	return []string{change("STRICT", "      ") + ";" + query + ";" + change("      ", "STRICT")}
}

// TestCopyNamesWhatItCannotRead: records that cannot be copied as they are, are named;
// none is left out or invented.
func TestCopyNamesWhatItCannotRead(t *testing.T) {
	index := func(is, says string) []string {
		return []string{"DROP INDEX documents_key", "CREATE UNIQUE INDEX documents_key ON documents " + is,
			`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX documents_key ON documents ` + says + `' WHERE name = 'documents_key'`}
	}
	for name, c := range map[string]struct {
		damage string
		more   []string
		pages  bool
		want   string
	}{
		"pages":                         {damage: "body = CAST(replace(body, 'y', 'z') AS BLOB)", pages: true, want: `the document cities "1" cannot be copied`},
		"a version that is a text":      {damage: "code = ''", more: loosely("UPDATE documents SET version = 'x' WHERE id = '1'"), want: `the document cities "1" cannot be copied`},
		"a body that is a text":         {damage: "code = ''", more: loosely("UPDATE documents SET body = CAST(body AS TEXT) WHERE id = '1'"), want: `the document cities "1" cannot be copied`},
		"an index of other ids":         {damage: "code = ''", more: index("(kind, 'x' || id)", "(kind, id)"), want: `the document cities "x0" cannot be copied`},
		"an index that lacks one":       {damage: "code = ''", more: index("(kind, id) WHERE id <> '1'", "(kind, id)"), want: "of 3 documents 2 could be found"},
		"an index that is out of order": {damage: "code = ''", more: index("(kind, id DESC)", "(kind, id)"), want: `cities "1" comes after cities "2": the index of documents is damaged`},
	} {
		t.Run(name, func(t *testing.T) {
			path := damagedFile(t, c.damage)
			if c.pages {
				journaltest.BreakPages(t, path)
			}
			for _, query := range c.more {
				execFile(t, path, query)
			}
			url, dir := postgrestest.URL(t), t.TempDir()
			wantNoCopy(t, t.Context(), path, url, c.want)
			wantNoCopy(t, t.Context(), path, filepath.Join(dir, "copy.db"), c.want)
			journaltest.CheckFolder(t, dir, nil)
			if n := tablesOf(t, url); n != 0 {
				t.Errorf("%d tables were made, want none", n)
			}
		})
	}
}

// TestCopyNamesWhatPostgresDoesNotTake: records that only SQLite can hold.
func TestCopyNamesWhatPostgresDoesNotTake(t *testing.T) {
	for _, damage := range []string{"kind = 'cities' || char(0)", "kind = CAST(x'ff' AS TEXT)", "op = char(0)", "state = 70000"} {
		path := damagedFile(t, damage)
		wantNoCopy(t, t.Context(), path, postgrestest.URL(t), `"1" cannot be copied`)
		if r, err := copyJournal(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"), nil); err != nil || r.Documents != 3 {
			t.Errorf("%s: to another file: %+v, %v", damage, r, err)
		}
	}
}
