package sqlite

import (
	"fmt"
	"strings"

	"riskdex/report"
)

// many is how many documents one statement looks up or inserts. A statement has a fixed cost,
// which exceeds that of finding a document.
const many = 32

// wantedTexts returns a table of n parameters with their positions. A row found is
// matched to its parameter by the position, and not by its content, which may be damaged.
func wantedTexts(n int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, ?)", i)
	}
	return `(VALUES ` + strings.Join(values, ", ") + `) AS wanted`
}

// manyQuery returns the statement that selects columns of up to many documents, after the
// position of the document among the ids. The parameters are those of columns, the ids, and their kind.
func manyQuery(columns string) string {
	return `SELECT wanted.column1, ` + columns + ` FROM ` + wantedTexts(many) + `
		CROSS JOIN documents INDEXED BY documents_key ON kind = ? AND id = wanted.column2`
}

// codesQuery returns the statement that selects the cities that have one of n codes and have not lost it,
// with the position of the code. The parameters are the codes and the kind.
func codesQuery(n int) string {
	return `SELECT wanted.column1, id, op FROM ` + wantedTexts(n) + `
		CROSS JOIN documents INDEXED BY documents_code ON kind = ? AND code = wanted.column2 AND code <> '' AND kept <> -1`
}

// insertQuery returns the statement that inserts n documents, with the arguments of insertRows. special
// are the values of the last columns. It still needs commit.SQL.
func insertQuery(n int, special string) string {
	return `INSERT INTO documents
		(kind, id, version, op, state, code, accepted_at, waiting_since, ended_at, crc, body, origin, kept, alone, trace, error_type, reason)
		VALUES ` + strings.TrimSuffix(strings.Repeat(`(?, ?, ?, ?, {pending}, ?, ?, ?, ?, ?, ?, `+special+`, '', ''), `, n), ", ")
}

// manyArgs returns the arguments of a manyQuery for keys of one kind: what its columns
// need, and the keys.
func manyArgs(keys []report.Key, columns ...any) []any {
	args := make([]any, len(columns)+many+1)
	ids := args[copy(args, columns):]
	for i, k := range keys {
		ids[i] = string(k.ID)
	}
	ids[many] = string(keys[0].Kind)
	return args
}

// together returns the first keys: as many as one statement can look up.
func together(keys []report.Key) []report.Key {
	n := 0
	for n < min(len(keys), many) && keys[n].Kind == keys[0].Kind {
		n++
	}
	return keys[:n]
}
