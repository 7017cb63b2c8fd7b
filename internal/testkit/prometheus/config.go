package prometheus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// service is the host of riskdex in the targets of the configuration for containers.
const service = "riskdex"

// configFor turns the configuration for containers into one for processes on this machine. It
// keeps all settings that do not depend on that.
func configFor(o Options) ([]byte, error) {
	text, err := os.ReadFile(o.Config)
	if err != nil {
		return nil, fmt.Errorf("read the scrape configuration: %w", err)
	}
	rules, err := filepath.Abs(o.Rules)
	if err != nil {
		return nil, fmt.Errorf("find the rules: %w", err)
	}
	var config struct {
		Global map[string]any   `yaml:"global,omitempty"`
		Rules  []string         `yaml:"rule_files"`
		Jobs   []map[string]any `yaml:"scrape_configs"`
		Rest   map[string]any   `yaml:",inline"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("read the scrape configuration %s: %w", o.Config, err)
	}
	config.Rules = []string{rules}
	config.Jobs = slices.DeleteFunc(config.Jobs, func(job map[string]any) bool { return !redirect(job, append([]string{o.Target}, o.Others...)) })
	if len(config.Jobs) == 0 {
		return nil, fmt.Errorf("the scrape configuration %s has no target at %s", o.Config, service)
	}
	if o.Interval > 0 {
		if config.Global == nil {
			config.Global = map[string]any{}
		}
		config.Global["scrape_interval"] = o.Interval.String()
		config.Global["evaluation_interval"] = o.Interval.String()
		for _, job := range config.Jobs {
			delete(job, "scrape_interval")
			delete(job, "scrape_timeout")
		}
		delete(config.Global, "scrape_timeout") // it must not exceed the interval
	}
	return yaml.Marshal(config)
}

// redirect replaces the targets of the service, and removes all others. It reports whether
// the job had the service as a target.
func redirect(job map[string]any, instead []string) bool {
	groups, _ := job["static_configs"].([]any)
	found := false
	for _, group := range groups {
		group, _ := group.(map[string]any)
		targets, _ := group["targets"].([]any)
		kept := []any{}
		for _, t := range targets {
			if host, _, _ := strings.Cut(fmt.Sprint(t), ":"); host == service {
				for _, target := range instead {
					kept = append(kept, target)
				}
				found = true
			}
		}
		if group != nil {
			group["targets"] = kept
		}
	}
	return found
}
