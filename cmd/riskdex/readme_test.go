package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The README has a table of settings. This test keeps it from going stale.

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	must(t, err)
	return string(text)
}

func TestReadmeNamesEverySetting(t *testing.T) {
	parser, err := kong.New(&commands{})
	must(t, err)
	text := readme(t)
	for _, command := range parser.Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range command.Flags {
			if len(flag.Envs) == 0 || slices.Contains(flag.Envs, "") {
				t.Errorf("--%s has no environment variable", flag.Name)
				continue
			}
			row := "| `--" + flag.Name + "` | `" + flag.Envs[0] + "` |"
			if flag.Default != "" && flag.Name != "ids" {
				row += " `" + flag.Default + "` |"
			}
			if !strings.Contains(text, row) {
				t.Errorf("README.md has no row %q", row)
			}
		}
	}
}
