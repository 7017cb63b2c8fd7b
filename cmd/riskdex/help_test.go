package main

import (
	"bytes"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
)

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if status := run(t.Context(), args, streams{&out, &out}); status != exitDone {
		t.Errorf("riskdex %s: exit status %d: %s", strings.Join(args, " "), status, &out)
	}
	return out.String()
}

// TestHelpShowsEveryDefault of every flag of every command, and its variable.
func TestHelpShowsEveryDefault(t *testing.T) {
	parser, err := newParser(new(commands))
	require.NoError(t, err)
	for _, leaf := range parser.Model.Leaves(true) {
		command := strings.Fields(leaf.FullPath())[1:]
		text := output(t, append(command, "--help")...)
		if again := output(t, append([]string{"help"}, command...)...); again != text {
			t.Errorf("riskdex help %s differs from --help:\n%s", strings.Join(command, " "), again)
		}
		words := strings.Join(strings.Fields(text), " ")
		for _, f := range leaf.Flags {
			if f.Default != "" && (!strings.Contains(words, "(default "+f.Default) || f.PlaceHolder == "") {
				t.Errorf("%s --%s: its default %s is not shown as one", leaf.FullPath(), f.Name, f.Default)
			}
			if f.Help == "" || len(f.Envs) > 0 && !strings.Contains(words, "$"+f.Envs[0]) {
				t.Errorf("%s --%s: its help or its variable is not shown", leaf.FullPath(), f.Name)
			}
		}
		for _, a := range leaf.Positional {
			if a.Help == "" {
				t.Errorf("%s %s has no help", leaf.FullPath(), a.Summary())
			}
		}
	}
}

func TestVersionFlag(t *testing.T) {
	if flag, command := output(t, "--version"), output(t, "version"); flag != command || !strings.HasPrefix(flag, "riskdex ") {
		t.Errorf("--version prints %q, version %q", flag, command)
	}
}
