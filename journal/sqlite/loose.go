package sqlite

import "fmt"

// looseInt, looseText and looseBytes take any value of a column. A damaged record
// may hold one of another type; its checksum tells, and reading the others goes on.
type looseInt int64

func (n *looseInt) Scan(v any) error {
	i, _ := v.(int64)
	*n = looseInt(i)
	return nil
}

type looseText string

func (s *looseText) Scan(v any) error {
	t, _ := v.(string)
	*s = looseText(t)
	return nil
}

// looseBytes keeps what the driver hands out, which package sql would copy. This
// driver makes a slice for every value.
type looseBytes []byte

func (b *looseBytes) Scan(v any) error {
	*b, _ = v.([]byte)
	return nil
}

// exactInt, exactText and exactBytes take nothing but what the schema says. They are for
// copies, which must not make something up in the place of what cannot be read.
type exactInt int64

func (n *exactInt) Scan(v any) error {
	i, ok := v.(int64)
	*n = exactInt(i)
	return exactly(ok, v)
}

type exactText string

func (s *exactText) Scan(v any) error {
	t, ok := v.(string)
	*s = exactText(t)
	return exactly(ok, v)
}

// exactBytes are nil where there are none, in whatever way.
type exactBytes []byte

func (b *exactBytes) Scan(v any) error {
	t, ok := v.([]byte)
	if *b = nil; len(t) > 0 {
		*b = t
	}
	return exactly(ok || v == nil, v)
}

func exactly(ok bool, v any) error {
	if !ok {
		return fmt.Errorf("it is a %T", v)
	}
	return nil
}
