package tables

import (
	"fmt"
	"strings"

	"riskdex/report"
)

// Engine is the database that a journal is in. Its methods are where the engines differ for those who
// read.
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
	var places []string
	for i, id := range ids {
		places, args = append(places, fmt.Sprintf("$%d", first+i)), append(args, string(id))
	}
	return " IN (" + strings.Join(places, ", ") + ")", args
}

// lastVersion selects the highest version that was ever given out.
func (e Engine) lastVersion() string {
	if e == Postgres {
		return "(SELECT last_value FROM versions)"
	}
	return "(SELECT value FROM meta WHERE name = 'last_version')"
}

// object is the function that makes a JSON object of names and values.
func (e Engine) object() string {
	if e == Postgres {
		return "json_object_agg"
	}
	return "json_group_object"
}
