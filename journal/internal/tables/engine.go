package tables

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"riskdex/report"
)

// Engine is the database that a journal is in. Its methods are where the engines differ for those who
// read and copy.
type Engine string

// The engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// text returns a text from outside as a parameter.
func (e Engine) text(s string) any {
	if e == Postgres {
		return []byte(s)
	}
	return s
}

// anyOf returns the condition that a text is one of some ids, which are the parameters from first on.
func (e Engine) anyOf(first int, ids []report.ID) (condition string, args []any) {
	if e == Postgres {
		list := make([][]byte, len(ids))
		for i, id := range ids {
			list[i] = []byte(id)
		}
		return fmt.Sprintf(" = ANY($%d)", first), []any{list}
	}
	var parameters []string
	for i, id := range ids {
		parameters, args = append(parameters, fmt.Sprintf("$%d", first+i)), append(args, string(id))
	}
	return " IN (" + strings.Join(parameters, ", ") + ")", args
}

// lastVersion selects the highest version that was ever given out.
func (e Engine) lastVersion() string {
	if e == Postgres {
		return "(SELECT last_value FROM versions)"
	}
	return "(SELECT value FROM meta WHERE name = 'last_version')"
}

// counts selects how many documents there are, and the highest version and the highest number of a refusal
// that were ever given out; 0 is none. It counts rows, and not entries of an index: a row that has none
// must not get lost.
func (e Engine) counts() string {
	if e == Postgres {
		return `(SELECT count(*) FROM documents), coalesce(pg_sequence_last_value('versions'::regclass), 0),
			coalesce(pg_sequence_last_value(pg_get_serial_sequence('refusals', 'seq')::regclass), 0)`
	}
	return "(SELECT count(*) FROM documents NOT INDEXED), " + e.lastVersion() + ", coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'refusals'), 0)"
}

// keepLasts returns the statements that keep the highest version and number that counts selects. Sequences of PostgreSQL hold also where the
// transaction is given up, so they must not go back.
func (e Engine) keepLasts() (version, refusal string) {
	if e == Postgres {
		const keep = "SELECT setval(@, greatest($1::bigint, pg_sequence_last_value(@::regclass))) WHERE $1 > 0"
		return strings.ReplaceAll(keep, "@", "'versions'"), strings.ReplaceAll(keep, "@", "pg_get_serial_sequence('refusals', 'seq')")
	}
	return "UPDATE meta SET value = $1 WHERE name = 'last_version'",
		"DELETE FROM sqlite_sequence WHERE name = 'refusals'; INSERT INTO sqlite_sequence (name, seq) VALUES ('refusals', $1)"
}

// byKey is a table whose rows are found by the index of its key. The key is not read from the rows, so that
// it can be said which row cannot be read: a row of another key has no columns.
func (e Engine) byKey(table string) string {
	if e == SQLite && table == "documents" {
		return "(SELECT kind, id, doc FROM documents INDEXED BY documents_key) AS k LEFT JOIN documents AS d NOT INDEXED USING (doc, kind, id)"
	}
	return table
}

// exact returns a value of a column as every engine has it. It takes nothing but what the column can
// have.
func (e Engine) exact(c Column, v any) (any, error) {
	fits := false
	switch w := v.(type) {
	case nil:
		if c.Type == "bytes" {
			return []byte(nil), nil // the drivers return nil for no bytes as well
		}
	case bool:
		fits = c.Type == "flag"
	case int64:
		if c.Type == "flag" {
			return w != 0, nil
		}
		fits = strings.Contains("int small serial", c.Type)
	case string:
		fits = c.Type == "word" || c.Type == "text"
	case []byte:
		if c.Type == "text" && e == Postgres {
			return string(w), nil
		}
		fits = c.Type == "bytes"
	}
	if !fits {
		return nil, fmt.Errorf("its %s is a %T", c.Name, v)
	}
	return v, nil
}

// stored returns a value as the engine keeps it in a column, or an error if it cannot: only damage makes it
// so.
func (e Engine) stored(c Column, v any) (any, error) {
	possible := true
	switch v := v.(type) {
	case []byte:
		if len(v) == 0 && c.null {
			return nil, nil
		}
		if v == nil {
			return []byte{}, nil
		}
	case int64:
		possible = c.Type != "small" || e == SQLite || v == int64(int16(v))
	case string:
		if c.Type == "text" {
			return e.text(v), nil
		}
		possible = e == SQLite || utf8.ValidString(v) && !strings.Contains(v, "\x00")
	}
	if !possible {
		return nil, fmt.Errorf("its %s, %#v, is damaged, and the database would not take it", c.Name, v)
	}
	return v, nil
}

// object is the function that makes a JSON object of names and values.
func (e Engine) object() string {
	if e == Postgres {
		return "json_object_agg"
	}
	return "json_group_object"
}
