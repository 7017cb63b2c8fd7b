package kubernetes

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/client_golang/prometheus"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"riskdex/admin"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
)

// container returns the container of riskdex in the base, with its pod.
func container(t *testing.T, objects []runtime.Object) (core.Container, core.PodSpec) {
	t.Helper()
	pod := only[*apps.StatefulSet](t, objects).Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 0 {
		t.Fatalf("the pod has %d containers", len(pod.Containers)+len(pod.InitContainers))
	}
	return pod.Containers[0], pod
}

// flags returns the flags in the arguments.
func flags(t *testing.T, c core.Container) map[string]string {
	t.Helper()
	if len(c.Args) == 0 || c.Args[0] != "serve" || len(c.Command) != 0 {
		t.Fatalf("it runs %q %q", c.Command, c.Args)
	}
	set := map[string]string{}
	for _, arg := range c.Args[1:] {
		name, value, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !ok || !strings.HasPrefix(arg, "--") {
			t.Errorf("%q is not --NAME=VALUE", arg)
		}
		set[name] = value
	}
	return set
}

// help returns what riskdex serve --help prints.
func help(t *testing.T) string {
	t.Helper()
	needs.FullRun(t, "a build of riskdex")
	program := filepath.Join(t.TempDir(), "riskdex")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/riskdex")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program, "serve", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("riskdex serve --help: %v\n%s", err, out)
	}
	return string(out)
}

func TestRiskdexHasTheSettings(t *testing.T) {
	text := help(t)
	knows := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	for _, folder := range []string{base, example, cluster} {
		objects := built(t, folder)
		c, _ := container(t, objects)
		for name := range flags(t, c) {
			if !knows(`--` + name + `\b[^-]`) {
				t.Errorf("%s: riskdex serve has no flag --%s", folder, name)
			}
		}
		for _, e := range c.Env {
			if e.Name != "GOMEMLIMIT" && e.Name != "PGPASSWORD" && !knows(`\$`+e.Name+`\)`) {
				t.Errorf("%s: riskdex serve has no setting %s", folder, e.Name)
			}
		}
		for name := range settings(t, objects) {
			if !knows(`\$` + name + `\)`) {
				t.Errorf("%s: riskdex serve has no setting %s", folder, name)
			}
		}
	}
}

// settings returns the variables of the ConfigMap that the container starts with.
func settings(t *testing.T, objects []runtime.Object) map[string]string {
	t.Helper()
	c, _ := container(t, objects)
	if len(c.EnvFrom) != 1 || c.EnvFrom[0].ConfigMapRef == nil {
		t.Fatalf("it starts with %+v", c.EnvFrom)
	}
	for _, m := range all[*core.ConfigMap](objects) {
		if m.Name == c.EnvFrom[0].ConfigMapRef.Name {
			return m.Data
		}
	}
	t.Fatalf("there is no ConfigMap %s", c.EnvFrom[0].ConfigMapRef.Name)
	return nil
}

func TestItListensAtItsPorts(t *testing.T) {
	c, _ := container(t, built(t, base))
	set := flags(t, c)
	for name, flag := range map[string]string{"deliveries": "listen", "admin": "admin-listen"} {
		host, port, err := net.SplitHostPort(set[flag])
		require.NoError(t, err)
		if host != "" || port != strconv.Itoa(int(containerPort(t, c, name))) {
			t.Errorf("--%s is %s, the port %s is %d", flag, set[flag], name, containerPort(t, c, name))
		}
	}
}

func containerPort(t *testing.T, c core.Container, name string) int32 {
	t.Helper()
	for _, p := range c.Ports {
		if p.Name == name {
			return p.ContainerPort
		}
	}
	t.Fatalf("the container has no port %q", name)
	return 0
}

// The admin listener answers at the paths of probes and scrapes.
func TestProbesAndScrapesAreAnswered(t *testing.T) {
	objects := built(t, monitored)
	c, _ := container(t, objects)
	handler := admin.New(admin.Parts{Metrics: prometheus.NewRegistry(), Health: admin.Health{
		CanAccept: func() error { return nil }, ElasticsearchUp: func() bool { return false },
	}})
	answered := func(what, port, path string) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != http.StatusOK || port != "admin" {
			t.Errorf("%s asks %s at the port %q, which answers %d", what, path, port, answer.Code)
		}
	}
	for what, want := range map[string]string{"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"} {
		probe := map[string]*core.Probe{"startup": c.StartupProbe, "liveness": c.LivenessProbe, "readiness": c.ReadinessProbe}[what]
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != want {
			t.Errorf("the %s probe is %+v", what, probe)
			continue
		}
		answered(what, probe.HTTPGet.Port.String(), probe.HTTPGet.Path)
	}
	for _, e := range only[*monitoring.ServiceMonitor](t, objects).Spec.Endpoints {
		answered("Prometheus", e.Port, e.Path)
	}
}

// Journal, user, image, memory and time to stop are the same as in the Dockerfile and
// with Compose, whose tests compare them with the program.
func TestItRunsAsInCompose(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Image       string            `json:"image"`
			Environment map[string]string `json:"environment"`
			Stop        string            `json:"stop_grace_period"`
			Memory      string            `json:"mem_limit"`
		} `json:"services"`
	}
	require.NoError(t, yaml.Unmarshal(read(t, "docker-compose.yml"), &compose))
	want := compose.Services["riskdex"]
	dockerfile := string(read(t, "Dockerfile"))
	c, pod := container(t, built(t, base))
	if c.Image != want.Image {
		t.Errorf("the image is %s, with Compose %s", c.Image, want.Image)
	}
	stop, err := time.ParseDuration(want.Stop)
	require.NoError(t, err)
	if got := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; got != stop {
		t.Errorf("it is given %v to stop, with Compose %v", got, stop)
	}
	for _, e := range c.Env {
		if e.Name == "GOMEMLIMIT" && e.Value != want.Environment["GOMEMLIMIT"] {
			t.Errorf("GOMEMLIMIT is %s, with Compose %s", e.Value, want.Environment["GOMEMLIMIT"])
		}
	}
	if limit := c.Resources.Limits.Memory(); want.Memory != "1280m" || limit.Cmp(resource.MustParse("1280Mi")) != 0 ||
		limit.Cmp(*c.Resources.Requests.Memory()) != 0 {
		t.Errorf("its memory is %v, with Compose %s", c.Resources, want.Memory)
	}
	user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(dockerfile)
	if s := pod.SecurityContext; strconv.Itoa(int(*s.RunAsUser)) != user[1] || strconv.Itoa(int(*s.RunAsGroup)) != user[2] || *s.FSGroup != *s.RunAsGroup {
		t.Errorf("it runs as %+v, the image as %s", s, user[0])
	}
	folder := path.Dir(flags(t, c)["journal"])
	if !strings.Contains(dockerfile, "\nVOLUME "+folder+"\n") {
		t.Errorf("the image has no volume at %s", folder)
	}
	if !slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return m.MountPath == folder && m.Name == "journal" && !m.ReadOnly }) {
		t.Errorf("the journal's volume is not at %s: %+v", folder, c.VolumeMounts)
	}
}
