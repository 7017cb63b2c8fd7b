package main

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// size is a number of bytes, written like 64MiB.
type size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n == 0 || n > math.MaxInt64 {
		return fmt.Errorf("%q is not a size: write it like 64MiB", text)
	}
	*s = size(n)
	return nil
}
