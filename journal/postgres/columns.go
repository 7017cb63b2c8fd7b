package postgres

import (
	"fmt"
	"slices"
	"strings"
)

// columns are those of many rows that one statement writes, each as an array.
type columns[T any] []column[T]

type column[T any] struct {
	name, kind string
	array      func([]*T) any
}

// values returns the array of a column.
func values[T, V any](of func(*T) V) func([]*T) any {
	return func(rows []*T) any {
		list := make([]V, len(rows))
		for i, r := range rows {
			list[i] = of(r)
		}
		return list
	}
}

// arrays returns the arguments that table takes.
func (c columns[T]) arrays(rows []*T) []any {
	args := make([]any, len(c))
	for i := range c {
		args[i] = c[i].array(rows)
	}
	return args
}

// table returns the arrays as a table n, for FROM.
func (c columns[T]) table() string {
	arrays := make([]string, len(c))
	for i := range c {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, c[i].kind)
	}
	return "unnest(" + strings.Join(arrays, ", ") + ") AS n (" + c.names() + ")"
}

func (c columns[T]) names() string { return c.list("@") }

// list returns a list of the columns in a form, in which @ is the name.
func (c columns[T]) list(form string) string {
	list := make([]string, len(c))
	for i := range c {
		list[i] = strings.ReplaceAll(form, "@", c[i].name)
	}
	return strings.Join(list, ", ")
}

func (c columns[T]) without(names ...string) columns[T] {
	return slices.DeleteFunc(slices.Clone(c), func(c column[T]) bool { return slices.Contains(names, c.name) })
}
