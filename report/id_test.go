package report

import (
	"errors"
	"strings"
	"testing"
)

func TestParseID(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"130", nil},
		{"a/b", nil},
		{"São Paulo\n", nil},
		{strings.Repeat("x", MaxIDBytes), nil},
		{strings.Repeat("é", MaxIDBytes/2), nil},
		{"", ErrIDEmpty},
		{strings.Repeat("x", MaxIDBytes+1), ErrIDTooLong},
		{strings.Repeat("é", MaxIDBytes/2) + "x", ErrIDTooLong},
		{"\xff", ErrIDNotUTF8},
	} {
		id, err := ParseID(c.in)
		if !errors.Is(err, c.want) {
			t.Errorf("ParseID(%q) = %v, want %v", c.in, err, c.want)
		}
		if err == nil && string(id) != c.in {
			t.Errorf("ParseID(%q) = %q", c.in, id)
		}
	}
}

func TestParseKind(t *testing.T) {
	for _, k := range Kinds() {
		if got, err := ParseKind(string(k)); got != k || err != nil {
			t.Errorf("ParseKind(%q) = %q, %v", k, got, err)
		}
	}
	if _, err := ParseKind("countries"); err == nil {
		t.Error("ParseKind accepted a kind that the interface does not have")
	}
}
