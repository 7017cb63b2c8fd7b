package compose

import (
	"net"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v3"
)

func parse(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// configuration returns the file of the repository that an argument of a service names.
func configuration(t *testing.T, s types.ServiceConfig, flag string) string {
	t.Helper()
	for _, arg := range s.Command {
		if value, is := strings.CutPrefix(arg, flag+"="); is {
			name, ok := mounted(t, s, value)
			if !ok {
				t.Fatalf("%s: %s is not mounted", s.Name, value)
			}
			return name
		}
	}
	t.Fatalf("%s has no %s", s.Name, flag)
	return ""
}

// reachable fails unless the address names a service and a port on which it listens.
func reachable(t *testing.T, address string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Error(err)
		return
	}
	s, known := everything(t).Services[host]
	if !known || !slices.Contains(listensOn(t, s), port) {
		t.Errorf("nobody listens at %s", address)
	}
}

func TestPrometheusFindsItsTargetsAndRules(t *testing.T) {
	for name, want := range map[string][]string{
		"prometheus":         {"riskdex:8081"},
		"prometheus-cluster": {"riskdex-1:8081", "riskdex-2:8081"},
	} {
		s := everything(t).Services[name]
		var config struct {
			Rules []string `yaml:"rule_files"`
			Jobs  []struct {
				Name   string `yaml:"job_name"`
				Static []struct {
					Targets []string `yaml:"targets"`
				} `yaml:"static_configs"`
			} `yaml:"scrape_configs"`
		}
		parse(t, configuration(t, s, "--config.file"), &config)
		var targets []string
		for _, job := range config.Jobs {
			for _, group := range job.Static {
				targets = append(targets, group.Targets...)
			}
		}
		for _, target := range targets {
			reachable(t, target)
		}
		// One job: the rules sum and compare the metrics of the processes of one job.
		if !slices.Equal(targets, want) || len(config.Jobs) != 1 || !strings.Contains(config.Jobs[0].Name, "riskdex") {
			t.Errorf("%s watches %v, want one job with %q", name, config.Jobs, want)
		}
		if len(config.Rules) == 0 {
			t.Errorf("%s has no rules", name)
		}
		for _, file := range config.Rules {
			if !path.IsAbs(file) {
				file = path.Join("/etc/prometheus", file)
			}
			if at, ok := mounted(t, s, file); !ok || at != "dashboards/rules.yml" {
				t.Errorf("%s: at %s is %q", name, file, at)
			}
		}
	}
}

func TestGrafanaFindsPrometheusAndTheDashboard(t *testing.T) {
	s := project(t).Services["grafana"]
	var sources struct {
		Datasources []struct {
			Type, URL string
			IsDefault bool `yaml:"isDefault"`
		}
	}
	parse(t, provisioned(t, s, "datasources"), &sources)
	if len(sources.Datasources) != 1 || sources.Datasources[0].Type != "prometheus" || !sources.Datasources[0].IsDefault {
		t.Fatalf("the data sources are %+v", sources.Datasources)
	}
	at, err := url.Parse(sources.Datasources[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	reachable(t, at.Host)

	var boards struct {
		Providers []struct {
			Options struct{ Path string }
		}
	}
	parse(t, provisioned(t, s, "dashboards"), &boards)
	home := environment(t, s)["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	if name, ok := mounted(t, s, home); !ok || name != "dashboards/riskdex.json" {
		t.Errorf("the home dashboard is %q", name)
	}
	if len(boards.Providers) != 1 || !strings.HasPrefix(home, strings.TrimSuffix(boards.Providers[0].Options.Path, "/")+"/") {
		t.Errorf("%s is in none of the folders with dashboards: %+v", home, boards.Providers)
	}
}

// provisioned returns the only file in a folder of Grafana's provisioning.
func provisioned(t *testing.T, s types.ServiceConfig, folder string) string {
	t.Helper()
	dir := "/etc/grafana/provisioning/" + folder
	name, ok := mounted(t, s, dir)
	if !ok {
		t.Fatalf("%s is not mounted", dir)
	}
	files := list(t, name)
	if len(files) != 1 {
		t.Fatalf("%s has %q", name, files)
	}
	return files[0]
}

// list returns the files in a folder of the repository.
func list(t *testing.T, name string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root(t), name, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		if found[i], err = filepath.Rel(root(t), found[i]); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// Whoever opens Grafana sees the dashboard at once and may change nothing, and there is
// no account with a well-known password.
func TestGrafanaIsOpenForLookingOnly(t *testing.T) {
	env := environment(t, project(t).Services["grafana"])
	for name, want := range map[string]string{
		"GF_AUTH_ANONYMOUS_ENABLED":                  "true",
		"GF_AUTH_ANONYMOUS_ORG_ROLE":                 "Viewer",
		"GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
}
