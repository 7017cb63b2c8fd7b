package sqlite

import (
	"fmt"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// applicationID marks the file as a journal: "risk" in ASCII.
const applicationID = 0x7269736b

// create is the script for an empty file: the tables, sums of each kind, and the ids of the line,
// of the file and of the feed that cursors are for.
func create() string {
	var script strings.Builder
	script.WriteString(tables.Schema(tables.SQLite))
	for _, k := range report.AllKinds() {
		fmt.Fprintf(&script, "INSERT INTO totals (kind) VALUES ('%s');", k)
	}
	fmt.Fprintf(&script, "INSERT INTO ids (name, value) VALUES ('line', '%s'), ('file', '%s'), ('feed', '%s');", commit.NewLineageID(), newFileID(), newFileID())
	return script.String()
}
