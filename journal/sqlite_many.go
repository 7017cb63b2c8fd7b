package journal

import (
	"fmt"
	"strings"

	"riskdex/report"
)

// many is how many documents one statement looks up. A statement costs the same
// whatever it finds, and that is more than finding a document.
const many = 32

// manyQuery returns the statement that selects columns of up to many documents. Each
// row has before it the place of its document among the ids: that must not be told by
// what the row holds, which may be damaged. There is a row of NULLs where there is no
// document. The parameters are those of columns, the ids, and their kind.
func manyQuery(columns string) string {
	values := make([]string, many)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, ?)", i)
	}
	return `SELECT wanted.column1, ` + columns + ` FROM (VALUES ` + strings.Join(values, ", ") + `) AS wanted
		LEFT JOIN documents INDEXED BY documents_key ON kind = ? AND id = wanted.column2`
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

// together returns the first of keys, as many as one statement can look up.
func together(keys []report.Key) []report.Key {
	n := 0
	for n < min(len(keys), many) && keys[n].Kind == keys[0].Kind {
		n++
	}
	return keys[:n]
}
