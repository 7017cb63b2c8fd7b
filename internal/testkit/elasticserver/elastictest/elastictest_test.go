package elastictest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
)

func TestMain(m *testing.M) { os.Exit(elastictest.Main(m)) }

func TestPrefixCleansUp(t *testing.T) {
	var prefix string
	created := []string{"/%sread-only", "/%sclosed", "/%shidden", "/_index_template/%st", "/_component_template/%sc"}
	t.Run("Ein Test: größer, UPPER/lower", func(t *testing.T) {
		prefix = elastictest.Prefix(t)
		if !regexp.MustCompile(`^[a-z0-9][a-z0-9-]*-$`).MatchString(prefix) || !strings.Contains(prefix, "upper") {
			t.Errorf("prefix %q", prefix)
		}
		if other := elastictest.Prefix(t); other == prefix {
			t.Errorf("%q twice", prefix)
		}
		for _, step := range []struct{ method, path, body string }{
			{"PUT", "/%sread-only", `{"aliases": {"%salias": {}}}`},
			{"PUT", "/%sread-only/_settings", `{"index.blocks.read_only": true}`},
			{"PUT", "/%sclosed", `{}`},
			{"POST", "/%sclosed/_close", ``},
			{"PUT", "/%shidden", `{"settings": {"index.hidden": true}}`},
			{"PUT", "/_component_template/%sc", `{"template": {}}`},
			{"PUT", "/_index_template/%st", `{"index_patterns": ["%s*"], "composed_of": ["%sc"]}`},
		} {
			path, body := strings.ReplaceAll(step.path, "%s", prefix), strings.ReplaceAll(step.body, "%s", prefix)
			if status, answer := elastictest.Ask(t, step.method, elastictest.URL(t)+path, body); status != 200 {
				t.Fatalf("%s %s: %d: %s", step.method, path, status, answer)
			}
		}
	})
	for _, path := range created {
		path = strings.ReplaceAll(path, "%s", prefix)
		if status, answer := elastictest.Ask(t, "GET", elastictest.URL(t)+path, ""); status != 404 {
			t.Errorf("%s is still there: %d: %s", path, status, answer)
		}
	}
}
