package sqlite

import (
	"fmt"
	"strings"

	"riskdex/report"
)

// many is how many documents one statement looks up or inserts. A statement has a fixed cost,
// which exceeds that of finding a document.
const many = 32

// wantedTexts returns a table of up to many parameters with their positions. A row found is
// matched to its parameter by the position, and not by its content, which may be damaged.
func wantedTexts() string {
	values := make([]string, many)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, ?)", i)
	}
	return `(VALUES ` + strings.Join(values, ", ") + `) AS wanted`
}

// manyQuery returns the statement that selects columns of up to many documents, after the
// position of the document among the ids. The parameters are those of columns, the ids, and their kind.
func manyQuery(columns string) string {
	return `SELECT wanted.column1, ` + columns + ` FROM ` + wantedTexts() + `
		CROSS JOIN documents INDEXED BY documents_key ON kind = ? AND id = wanted.column2`
}

// manyCodesQuery returns the statement that selects, of up to many codes, the positions of those
// that any document of a kind has or had in its newest record. The parameters are the codes and the kind.
func manyCodesQuery() string {
	return `SELECT wanted.column1 FROM ` + wantedTexts() + `
		WHERE EXISTS (SELECT 1 FROM documents INDEXED BY documents_code WHERE kind = ? AND code = wanted.column2 AND code <> '')`
}

// insertQuery returns the statement that inserts n documents, with the arguments of newDocument. special
// are the values of the last columns. It still needs commit.SQL.
func insertQuery(n int, special string) string {
	return `INSERT INTO documents
		(kind, id, version, op, state, code, accepted_at, waiting_since, ended_at, crc, body, origin, kept, alone, trace, error_type, reason)
		VALUES ` + strings.TrimSuffix(strings.Repeat(`(?, ?, ?, ?, {pending}, ?, ?, ?, ?, ?, ?, `+special+`, '', ''), `, n), ", ")
}

// manyTexts returns texts as the parameters of wantedTexts, and a kind.
func manyTexts(texts []string, kind report.Kind) []any {
	args := make([]any, many+1)
	for i, text := range texts {
		args[i] = text
	}
	args[many] = string(kind)
	return args
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
