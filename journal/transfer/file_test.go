package transfer_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// execFile changes the file of a closed journal.
func execFile(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(query)
	require.NoError(t, err)
}

// damagedFile makes a journal of three cities, of which the second is damaged.
func damagedFile(t *testing.T, damage string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openNamedTest(t, path)
	for i := range 3 {
		filler{t, j}.append(report.Delivery{Changes: []report.Change{{
			Key: report.Key{Kind: report.Cities, ID: report.ID(fmt.Sprint(i))}, Op: report.Index, Code: "LON",
			Body: []byte(strings.Repeat("y", 10000)),
		}}})
	}
	closeTest(t, j)
	execFile(t, path, "UPDATE documents SET "+damage+" WHERE id = '1'")
	return path
}
