package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"riskdex/internal/testkit/require"
)

var updatePages = flag.Bool("update", false, "write docs/settings.md, docs/metrics.md and deploy/packages/riskdex.env")

// TestSettingsPageIsThatOfTheProgram compares what make settings writes with the commands and
// flags.
func TestSettingsPageIsThatOfTheProgram(t *testing.T) {
	parser, err := newParser(new(commands))
	require.NoError(t, err)
	for file, want := range map[string]string{
		"docs/settings.md":            settingsMarkdown(t, parser),
		"deploy/packages/riskdex.env": settingsEnvironment(parser),
	} {
		path := "../../" + file
		if *updatePages {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		if string(got) != want {
			t.Errorf("%s is out of date: run make settings", file)
		}
	}
}

// credentials is where deploy/packages/tmpfiles.conf lets the service read.
const credentials = "/etc/riskdex/credentials/"

// settingsEnvironment returns the settings of the service that packages install.
func settingsEnvironment(parser *kong.Kong) string {
	var b strings.Builder
	b.WriteString("# The settings of riskdex.service. Written by `make settings` from the program.\n#\n" +
		"# A line that begins with # is not in force, and shows the default or an example. After a\n" +
		"# change: systemctl restart riskdex\n#\n" +
		"# A secret, or another file that only riskdex may read, belongs into the directory\n" +
		"# " + credentials + ". The files there are reread when they change; after one was\n" +
		"# replaced by one with another mode: systemctl reload riskdex\n")
	for _, command := range parser.Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, f := range command.Flags {
			value := f.Default
			switch secret, file := strings.CutSuffix(f.Name, "-file"); {
			case file:
				value = credentials + secret
			case f.Name == "journal":
				value = "/var/lib/riskdex/riskdex.db" // riskdex.service says so
			case f.IsBool():
				value = "true"
			}
			fmt.Fprintf(&b, "\n%s#%s=%s\n", comment(f.Help), f.Envs[0], value)
		}
	}
	b.WriteString("\n" + comment("For a journal in PostgreSQL: the file with its password, as libpq has it. In place of it, the settings PGSSLMODE and those like it work too.") +
		"#PGPASSFILE=" + credentials + "pgpass\n" +
		"\n" + comment("Where to send traces, by OTLP over HTTP. The other variables of OpenTelemetry work too.") +
		"#OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318\n")
	return b.String()
}

// comment breaks a text into lines of a comment.
func comment(text string) string {
	var b strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 92 {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

func settingsMarkdown(t *testing.T, parser *kong.Kong) string {
	t.Helper()
	cell := func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
	var b strings.Builder
	b.WriteString("# Commands and settings\n\n" +
		"<!-- Written by `make settings` from the program; a test fails while the two differ. -->\n\n" +
		"For whoever configures riskdex or runs its commands.\n\n" +
		"## Commands\n\n`riskdex COMMAND --help` shows the flags of each. Exit status: 0, done; 1, done, and the answer is no (nothing found, something refused or wrong); 2, could not be done.\n\n" +
		"| command | what it does |\n| --- | --- |\n")
	for _, leaf := range parser.Model.Leaves(true) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", leaf.FullPath(), cell(leaf.Help))
	}
	b.WriteString("\n## Settings of `riskdex serve`\n\n`riskdex check` takes the same. A flag overrides its environment variable; an empty variable counts as unset. " +
		"riskdex does not start with a variable that begins with `RISKDEX_` and is not a setting, and names the nearest one.\n\n" +
		"| flag | environment | default | what |\n| --- | --- | --- | --- |\n")
	for _, command := range parser.Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, f := range command.Flags {
			if len(f.Envs) != 1 || f.Envs[0] == "" {
				t.Errorf("--%s has the environment variables %q", f.Name, f.Envs)
				continue
			}
			standard := ""
			if f.Default != "" {
				standard = "`" + f.Default + "`"
			}
			fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s |\n", f.Name, f.Envs[0], standard, cell(f.Help))
		}
	}
	return b.String()
}

// documents returns the texts of the documentation, by path relative to this folder.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../mappings/*.md", "../../deploy/*/*.md"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all[path] = string(text)
		}
	}
	return all
}

// TestDocumentsShowCommandsThatExist parses every command line in them.
func TestDocumentsShowCommandsThatExist(t *testing.T) {
	documents := documents(t)
	t.Chdir(t.TempDir())
	found := 0
	for path, text := range documents {
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
			for _, line := range regexp.MustCompile(`(?m)(?:^|&& |-- )(?:\./|/|\.local/)?riskdex ([a-z][^#\n&|]+)`).FindAllStringSubmatch(block[1], -1) {
				found++
				parser, err := newParser(new(commands))
				require.NoError(t, err)
				_, err = parser.Parse(strings.Fields(strings.ReplaceAll(line[1], "'", "")))
				if err != nil && !strings.Contains(err.Error(), "no such file") {
					t.Errorf("%s: riskdex %s: %v", path, line[1], err)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d command lines found", found)
	}
}
