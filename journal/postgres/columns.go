package postgres

import (
	"fmt"
	"strings"

	"riskdex/journal/internal/tables"
)

// unnest returns arrays with the values of columns as a table n, for FROM. [arrays] are its arguments.
func unnest(f tables.Fields) string {
	list := make([]string, len(f))
	for i := range f {
		kind := "bytea"
		switch f[i].At.(type) {
		case *tables.Int:
			kind = "bigint"
		case *tables.Word:
			kind = "text"
		case *tables.Flag:
			kind = "boolean"
		}
		list[i] = fmt.Sprintf("$%d::%s[]", i+1, kind)
	}
	return "unnest(" + strings.Join(list, ", ") + ") AS n (" + f.List("@") + ")"
}

// arrays returns the values of the columns of rows, an array for each column.
func arrays[R any](rows []*R, fields func(*R) tables.Fields) []any {
	all := make([]tables.Fields, len(rows))
	for i, r := range rows {
		all[i] = fields(r)
	}
	args := make([]any, len(all[0]))
	for i := range args {
		switch all[0][i].At.(type) {
		case *tables.Int:
			args[i] = array(all, i, func(v *tables.Int) int64 { return int64(*v) })
		case *tables.Word:
			args[i] = array(all, i, func(v *tables.Word) string { return string(*v) })
		case *tables.Flag:
			args[i] = array(all, i, func(v *tables.Flag) bool { return bool(*v) })
		case *tables.Text:
			args[i] = array(all, i, func(v *tables.Text) []byte { return []byte(*v) })
		case *tables.Bytes:
			args[i] = array(all, i, func(v *tables.Bytes) []byte { return orNil(*v) })
		}
	}
	return args
}

func array[F, V any](rows []tables.Fields, column int, value func(*F) V) []V {
	list := make([]V, len(rows))
	for i, f := range rows {
		list[i] = value(f[column].At.(*F))
	}
	return list
}

// orNil has no bytes stored as NULL.
func orNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
