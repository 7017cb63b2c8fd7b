package sanitize

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const hostile = "a\x1b[31mb\u009b2Jc\rd\x00e\x7ff\u202eg\ufeffh\xffi\n\tj"

// TestNothingUnsafeIsLeft: neither control characters nor those for the direction of text,
// but for the line breaks and tabs that Lines keeps.
func TestNothingUnsafeIsLeft(t *testing.T) {
	var log bytes.Buffer
	if n, err := (LogWriter{&log}).Write([]byte(hostile)); n != len(hostile) || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	for what, c := range map[string]struct{ text, kept string }{
		"one line": {OneLine(hostile), ""}, "lines": {Lines(hostile), "\n\t"}, "log": {log.String(), "\n\t"}, "word": {ShellWord(hostile), ""},
		"page": {Text(100, hostile), ""}, "id": {ID(100, hostile), ""},
	} {
		for _, r := range c.text {
			if Unsafe(r) && !strings.ContainsRune(c.kept, r) {
				t.Errorf("%s: %q in %q", what, r, c.text)
			}
		}
	}
}

func TestTerminal(t *testing.T) {
	if got := OneLine(" a\tb\r\nc\x1b[0m "); got != "a b c [0m" {
		t.Errorf("OneLine returned %q", got)
	}
	if got := Lines("{\n\t\"a\": \"é\u009b\"\n}"); got != "{\n\t\"a\": \"é\\u009b\"\n}" {
		t.Errorf("a body is shown as %q", got)
	}
}

// TestNamesCanBePasted has a shell read what is shown.
func TestNamesCanBePasted(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for _, id := range []string{"130", "a/b", "São Paulo", "it's", `\'"$(x)`, "a\x1b[31m'\\b", "\u202e", "tab\tand\nline", "😀\u0001", "-5", "*", "~"} {
		cmd := exec.CommandContext(t.Context(), bash, "-c", "printf %s "+strings.TrimPrefix(ShellArgument(id), "-- "))
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // before bash reads the line, not by it
		out, err := cmd.Output()
		if err != nil || string(out) != id {
			t.Errorf("%q is shown as %s, which a shell reads as %q, %v", id, ShellWord(id), out, err)
		}
	}
	if got := ShellArgument("-5"); got != "-- -5" {
		t.Errorf("an id that looks like a flag: %s", got)
	}
}

func TestPage(t *testing.T) {
	for in, want := range map[string]string{
		"São Paulo": "São Paulo", "a\nb": `a\u{a}b`, `a\u{a}b`: `a\\u{a}b`, "\u202e\u200b\u00a0": `\u{202e}\u{200b}\u{a0}`, "\xff": "\ufffd",
	} {
		if got := ID(100, in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	if got := ID(3, "abcd"); got != "abc…" {
		t.Errorf("ID returned %q", got)
	}
	if got := Text(5, " a\nb\u009b cdef"); got != ` a b\u{9b}…` {
		t.Errorf("Text returned %q", got)
	}
}
