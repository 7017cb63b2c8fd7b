package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
)

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "serve search search-api check push status show history delivery dead refused rebuild verify changes export reconcile backup restore journal healthy metrics rules mappings version completion help",
		"de":                         "delivery dead",
		"dead ":                      "list show retry drop",
		"help dead l":                "list",
		"dead --json l":              "list",
		"serve --log-f":              "--log-format",
		"serve --log-format ":        "text json",
		"serve --log-format=j":       "--log-format=json",
		"serve --log-format = j":     "json", // as bash splits it
		"serve --listen :80 --log-f": "--log-format",
		"show ":                      "cities advisories special-reports",
		"show cities ":               "",
		"changes cities a":           "advisories",
		"show --json ci":             "cities",
		"search -- --ki":             "",
		"completion ":                "bash zsh fish",
		"backup ":                    "", // files, which the shell knows
		"export -o x.jsonl ":         "cities advisories special-reports",
		"dead retry --ve":            "--version",
		"dance ":                     "",
	} {
		var got []string
		words := strings.Split(line, " ")
		for found := range strings.Lines(output(t, append([]string{"complete", "--"}, words...)...)) {
			word, _, _ := strings.Cut(found, "\t")
			got = append(got, word)
		}
		if line == "dance " {
			got = nil // whatever it offers
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is completed by %q, want %q", line, got, want)
		}
	}
}

// TestShellsComplete has each shell complete a line by its script.
func TestShellsComplete(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "riskdex"), []byte("#!/bin/sh\n"+asRiskdex+"=1 exec "+os.Args[0]+" \"$@\"\n"), 0o755))
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			program := needs.Program(t, shell, "apt-get install "+shell)
			script := filepath.Join(dir, "script."+shell)
			require.NoError(t, os.WriteFile(script, []byte(output(t, "completion", shell)), 0o644))
			cmd := exec.CommandContext(t.Context(), program, "-c", map[string]string{
				"bash": `. "$0"; COMP_WORDS=(riskdex dead "r"); COMP_CWORD=2; _riskdex riskdex; echo "${COMPREPLY[@]}"`,
				// What zsh's own functions would do with it is said instead.
				"zsh":  `compdef() { :; }; _files() { echo files; }; _describe() { echo ${(P)2}; }; . "$0"; words=(riskdex dead r); CURRENT=3; _riskdex; words=(riskdex backup ''); _riskdex`,
				"fish": `source $argv[1]; complete -C "riskdex dead r"`,
			}[shell], script)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
			out, err := cmd.CombinedOutput()
			want := map[string]string{"bash": "retry", "zsh": "retry:Send dead letters again, one of them edited if need be.\nfiles", "fish": "retry\tSend dead letters again, one of them edited if need be."}[shell]
			if got := strings.TrimSpace(string(out)); err != nil || got != want {
				t.Errorf("it offers %q, want %q; %v", got, want, err)
			}
		})
	}
}
