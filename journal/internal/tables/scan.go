package tables

import (
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Int, Word, Text and Bytes take any value of a column. A damaged record may hold one of another type; its
// checksum tells, and reading the others goes on. A Word is riskdex's own, and a Text is from outside.
type (
	Int  int64
	Word string
	Text string
	// Bytes keeps what the driver hands out, which package sql would copy. The drivers make a slice for
	// every value.
	Bytes []byte
)

// Scan implements sql.Scanner.
func (n *Int) Scan(v any) error {
	switch v := v.(type) {
	case int64:
		*n = Int(v)
	case bool:
		if *n = 0; v {
			*n = 1
		}
	default:
		*n = 0
	}
	return nil
}

// Scan implements sql.Scanner.
func (s *Text) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*s = Text(v)
	case []byte:
		*s = Text(v)
	default:
		*s = ""
	}
	return nil
}

// Scan implements sql.Scanner.
func (s *Word) Scan(v any) error { return (*Text)(s).Scan(v) }

// Scan implements sql.Scanner.
func (b *Bytes) Scan(v any) error {
	*b, _ = v.([]byte)
	return nil
}

// Flag is an Int of two values.
type Flag bool

// Scan implements sql.Scanner.
func (f *Flag) Scan(v any) error {
	var n Int
	err := n.Scan(v)
	*f = n != 0
	return err
}

// Micro is a time in microseconds since 1970.
type Micro time.Time

// Scan implements sql.Scanner.
func (m *Micro) Scan(v any) error {
	var n Int
	err := n.Scan(v)
	*m = Micro(commit.FromMicro(int64(n)))
	return err
}

// Length is how many bytes the record of a document has.
const Length = `coalesce(length(body), 0)`

// ContentColumns are what a change is read from.
const ContentColumns = `kind, id, version, op, code, accepted_at, crc, body`

// ScanContent reads ContentColumns, and what follows them, and reports whether the checksum fits.
func ScanContent(scan func(...any) error, more ...any) (c report.Change, intact bool, err error) {
	var crc Int
	err = scan(append([]any{
		(*Text)(&c.Kind), (*Text)(&c.ID), (*Int)(&c.Version), (*Text)(&c.Op), (*Text)(&c.Code), (*Micro)(&c.AcceptedAt), &crc, (*Bytes)(&c.Body),
	}, more...)...)
	return c, commit.Checksum(c) == uint32(crc), err
}
