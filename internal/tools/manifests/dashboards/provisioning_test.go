package dashboards

import (
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

func decode(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, path), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func TestPrometheusTakesItsConfiguration(t *testing.T) {
	promtool(t, "check", "config", "prometheus.yml")
	promtool(t, "check", "config", "--syntax-only", "../deploy/cluster/prometheus.yml") // its rules are mounted
}

// The files that compose mounts fit together.
func TestProvisioning(t *testing.T) {
	var prometheus struct {
		Global struct {
			ScrapeInterval string `yaml:"scrape_interval"`
		}
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName       string `yaml:"job_name"`
			StaticConfigs []struct{ Targets []string }
		} `yaml:"scrape_configs"`
	}
	decode(t, "prometheus.yml", &prometheus)
	if !slices.Equal(prometheus.RuleFiles, []string{"rules.yml"}) {
		t.Errorf("Prometheus loads %v", prometheus.RuleFiles)
	}
	for _, path := range prometheus.RuleFiles {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if len(prometheus.ScrapeConfigs) != 1 || prometheus.ScrapeConfigs[0].JobName != "riskdex" {
		t.Errorf("Prometheus scrapes %+v", prometheus.ScrapeConfigs)
	}

	var sources struct {
		Datasources []struct {
			UID, Type, URL string
			IsDefault      bool `yaml:"isDefault"`
			JSONData       struct {
				TimeInterval string `yaml:"timeInterval"`
			} `yaml:"jsonData"`
		}
	}
	decode(t, "grafana/datasources/prometheus.yml", &sources)
	if len(sources.Datasources) != 1 {
		t.Fatalf("Grafana has %d data sources", len(sources.Datasources))
	}
	if s := sources.Datasources[0]; s.Type != "prometheus" || !s.IsDefault || s.URL != "http://prometheus:9090" {
		t.Errorf("Grafana's default data source is %+v", s)
	} else if s.JSONData.TimeInterval != prometheus.Global.ScrapeInterval {
		t.Errorf("Grafana believes in a scrape every %s, Prometheus scrapes every %s", s.JSONData.TimeInterval, prometheus.Global.ScrapeInterval)
	}

	var providers struct {
		Providers []struct {
			Type           string
			AllowUIUpdates bool `yaml:"allowUiUpdates"`
			Options        struct{ Path string }
		}
	}
	decode(t, "grafana/dashboards/riskdex.yml", &providers)
	if len(providers.Providers) != 1 || providers.Providers[0].Type != "file" || providers.Providers[0].AllowUIUpdates ||
		providers.Providers[0].Options.Path != "/etc/riskdex/dashboards" {
		t.Errorf("Grafana takes dashboards from %+v", providers.Providers)
	}
}
