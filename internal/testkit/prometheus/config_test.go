package prometheus

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

const containers = `
global: {scrape_interval: 15s, scrape_timeout: 10s, external_labels: {site: here}}
rule_files: [/etc/prometheus/rules.yml]
scrape_configs:
  - job_name: prometheus
    static_configs: [{targets: ["localhost:9090"]}]
  - job_name: riskdex
    scrape_interval: 5s
    metrics_path: /metrics
    static_configs: [{targets: ["riskdex:8081", "grafana:3000"], labels: {a: b}}]
alerting: {alertmanagers: []}
`

// configured returns the configuration for this machine, read back.
func configured(t *testing.T, text string, interval time.Duration) (config map[string]any, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := configFor(Options{Config: file, Rules: "/here/rules.yml", Target: "127.0.0.1:18081", Others: []string{"127.0.0.1:28081"}, Interval: interval})
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(out, &config); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	return config, nil
}

func TestConfigurationForThisMachine(t *testing.T) {
	for _, c := range []struct {
		name          string
		interval      time.Duration
		global, times map[string]any
	}{
		{"as it is", 0,
			map[string]any{"scrape_interval": "15s", "scrape_timeout": "10s"}, map[string]any{"scrape_interval": "5s"}},
		{"with an interval of our own", time.Second,
			map[string]any{"scrape_interval": "1s", "evaluation_interval": "1s"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := configured(t, containers, c.interval)
			if err != nil {
				t.Fatal(err)
			}
			c.global["external_labels"] = map[string]any{"site": "here"}
			job := map[string]any{"job_name": "riskdex", "metrics_path": "/metrics", "static_configs": []any{
				map[string]any{"targets": []any{"127.0.0.1:18081", "127.0.0.1:28081"}, "labels": map[string]any{"a": "b"}},
			}}
			maps.Copy(job, c.times)
			want := map[string]any{
				"global": c.global, "rule_files": []any{"/here/rules.yml"}, "scrape_configs": []any{job},
				"alerting": map[string]any{"alertmanagers": []any{}},
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

func TestConfigurationWithoutOurTarget(t *testing.T) {
	_, err := configured(t, strings.ReplaceAll(containers, "riskdex:8081", "riskdex.example:8081"), 0)
	if err == nil || !strings.Contains(err.Error(), "no target at riskdex") {
		t.Errorf("got %v", err)
	}
}
