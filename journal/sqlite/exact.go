package sqlite

import "fmt"

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
