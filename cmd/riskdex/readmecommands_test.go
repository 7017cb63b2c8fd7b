package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestReadmeShowsCommandsThatExist parses every command line of the README.
func TestReadmeShowsCommandsThatExist(t *testing.T) {
	var lines []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readme(t), -1) {
		for _, line := range regexp.MustCompile(`(?m)^(?:\./)?riskdex ([^#\n]+)`).FindAllStringSubmatch(block[1], -1) {
			lines = append(lines, line[1])
		}
	}
	if len(lines) < 20 {
		t.Fatalf("only %d command lines found", len(lines))
	}
	t.Chdir(t.TempDir())
	for _, line := range lines {
		parser, err := kong.New(&commands{}, kong.Name("riskdex"))
		must(t, err)
		_, err = parser.Parse(strings.Fields(line))
		if err != nil && !strings.Contains(err.Error(), "no such file") {
			t.Errorf("riskdex %s: %v", line, err)
		}
	}
}

func TestReadmeNamesEveryCommand(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Name("riskdex"))
	must(t, err)
	text := readme(t)
	for _, leaf := range parser.Model.Leaves(true) {
		if !strings.Contains(text, leaf.FullPath()) {
			t.Errorf("README.md does not show %s", leaf.FullPath())
		}
	}
}
