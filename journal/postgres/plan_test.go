package postgres

import (
	"fmt"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/report"
)

// TestGroupsDoNotReadTheWholeTable: a plan that was made while the table was small does not stay
// until the server analyzes the table, which may take a minute.
func TestGroupsDoNotReadTheWholeTable(t *testing.T) {
	j := process(t, postgrestest.URL(t), silent(), journal.Options{History: 24 * time.Hour})
	execSQL(t, j, "ALTER TABLE documents SET (autovacuum_enabled = off)")
	next := 0
	put := func(groups, documents int) {
		for range groups {
			var d report.Delivery
			for range documents {
				next++
				d.Changes = append(d.Changes, journaltest.Put(fmt.Sprint(next), "{}").Changes...)
			}
			if _, err := j.Append(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := func() int {
		return valueOf[int](t, j, "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'documents' AND schemaname = current_schema")
	}
	put(20, 1)
	put(20, 32)
	put(20, 1000)
	for _, documents := range []int{1, 32} {
		before := read()
		put(50, documents)
		journaltest.Eventually(t, "the statistics have the last groups", func() bool {
			return valueOf[int](t, j, "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'documents' AND schemaname = current_schema") >= next
		})
		if n := read() - before; n > 300_000 { // the whole table each time is a million; groups of 1000 may be counted late
			t.Errorf("50 groups of %d read %d rows of the table one after the other", documents, n)
		}
	}
}
