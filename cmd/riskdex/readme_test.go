package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"riskdex/internal/elastic/elastictest"
)

// The README has a table of metrics and one of settings. These tests keep them
// from going stale.

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	must(t, err)
	return string(text)
}

func TestReadmeNamesEveryMetric(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.send("PUT", "/cities/1", `{"title":"x","risk_level":9}`)
	p.drained()
	histogram := regexp.MustCompile(`_(bucket|sum|count)$`)
	exposed := map[string]bool{}
	for series := range p.metrics() {
		name, _, _ := strings.Cut(series, "{")
		if strings.HasPrefix(name, "riskdex_") {
			exposed[histogram.ReplaceAllString(name, "")] = true
		}
	}
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile("`(riskdex_[a-z_]+)`").FindAllStringSubmatch(readme(t), -1) {
		documented[name[1]] = true
	}
	for name := range exposed {
		if !documented[name] {
			t.Errorf("README.md does not say what %s is", name)
		}
	}
	for name := range documented {
		if !exposed[name] {
			t.Errorf("README.md has %s, which riskdex does not expose", name)
		}
	}
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
