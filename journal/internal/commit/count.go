package commit

// CountQuery counts the documents of a kind that are not deleted, from an index alone: rows
// of all sizes need not be read. The placeholder is of the engine.
func CountQuery(placeholder string) string {
	return `SELECT (SELECT count(*) FROM documents WHERE kind = ` + placeholder + `) -
		coalesce((SELECT sum(tombstones) FROM totals WHERE kind = ` + placeholder + `), 0)`
}
