package report

import (
	"errors"
	"slices"
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
		t.Error("ParseKind accepted an unknown kind")
	}
}

// TestProbeIsNoContent: functions for input from outside do not accept the probe as a
// kind, and functions about indices do.
func TestProbeIsNoContent(t *testing.T) {
	if k, err := ParseKind(string(Probe)); err == nil {
		t.Errorf("ParseKind(%q) = %q", Probe, k)
	}
	if slices.Contains(Kinds(), Probe) || !slices.Contains(AllKinds(), Probe) || len(AllKinds()) != len(Kinds())+1 {
		t.Errorf("Kinds() = %v, AllKinds() = %v", Kinds(), AllKinds())
	}
	for _, k := range AllKinds() {
		if err := CheckKind(k); err != nil {
			t.Error(err)
		}
	}
	if CheckKind("countries") == nil || CheckKind("") == nil {
		t.Error("CheckKind accepted an unknown kind")
	}
}

// TestCodeOf: what is a letter only for upper casing makes no code, or two texts that an index
// tells apart would be one city.
func TestCodeOf(t *testing.T) {
	for text, want := range map[string]string{
		"LON": "LON", "lon": "LON", "Lon": "LON", "": "", "LO": "", "LOND": "", "L1N": "", "é1": "",
		"aı": "", "xſ": "", "K": "",
	} {
		if got := CodeOf(text); got != want {
			t.Errorf("CodeOf(%q) = %q, want %q", text, got, want)
		}
	}
}
