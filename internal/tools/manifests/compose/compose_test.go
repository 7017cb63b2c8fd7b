// Package compose has the tests of docker-compose.yml and the Dockerfile. They need no
// container engine: the file is read as Compose reads it, and compared with the
// repository that it mounts and the program that it starts.
package compose

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"riskdex/internal/testkit/elasticserver"
)

// root returns the folder of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// project returns docker-compose.yml with some of its profiles. Reading fails for
// anything outside the specification, for references to something missing, and for
// cycles.
func project(t *testing.T, profiles ...string) *types.Project {
	t.Helper()
	return load(t, []string{"docker-compose.yml"}, profiles...)
}

// load returns files of the repository, each laid over those before it.
func load(t *testing.T, files []string, profiles ...string) *types.Project {
	t.Helper()
	details := types.ConfigDetails{WorkingDir: root(t), Environment: types.Mapping{}}
	for _, name := range files {
		details.ConfigFiles = append(details.ConfigFiles, types.ConfigFile{Filename: filepath.Join(root(t), name)})
	}
	p, err := loader.LoadWithContext(t.Context(), details, func(o *loader.Options) {
		o.SetProjectName("riskdex", true)
		o.Profiles = profiles
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// everything returns all services of all profiles.
func everything(t *testing.T) *types.Project {
	t.Helper()
	return project(t, "*")
}

func TestEverythingIsThere(t *testing.T) {
	plain := []string{"elasticsearch", "grafana", "prometheus", "riskdex"}
	cluster := append([]string{"balancer", "postgres", "prometheus-cluster", "riskdex-1", "riskdex-2"}, plain...)
	for _, test := range []struct{ profiles, want []string }{
		{nil, plain}, {[]string{"cluster"}, cluster}, {[]string{"*"}, cluster},
	} {
		got := project(t, test.profiles...).ServiceNames()
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("the services of %q are %q, want %q", test.profiles, got, test.want)
		}
	}
}

func TestEveryServiceIsBoundedAndCheckedAndComesBack(t *testing.T) {
	for name, s := range everything(t).Services {
		if s.MemLimit <= 0 {
			t.Errorf("%s has no memory limit", name)
		}
		if s.Restart != "unless-stopped" {
			t.Errorf("%s is restarted %q", name, s.Restart)
		}
		if h := s.HealthCheck; h == nil || h.Disable || len(h.Test) < 2 || h.Test[0] != "CMD" ||
			h.Interval == nil || h.Timeout == nil || h.Retries == nil {
			t.Errorf("%s has no complete health check: %+v", name, h)
		}
	}
}

// unknownDigests are the images that are pinned by their version alone, and why.
var unknownDigests = map[string]string{
	"grafana/grafana:12.3.3": "no public list has its digest",
	"haproxy:3.2.25":         "the list of the official images has no digest of this version",
}

// An image tag may be another image tomorrow. The digests are those of all platforms together. For
// official images they are from github.com/docker-library/repo-info, for Prometheus from several
// projects that pin it.
func TestImagesArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`^([a-z/-]+:v?\d+\.\d+\.\d+|postgres:\d+\.\d+)(@sha256:[0-9a-f]{64})?$`) // PostgreSQL has versions of two numbers
	unknown := maps.Clone(unknownDigests)
	check := func(where, image string) {
		t.Helper()
		m := pinned.FindStringSubmatch(image)
		if m == nil || m[2] == "" && unknownDigests[m[1]] == "" {
			t.Errorf("%s has the image %q, want a version and its digest", where, image)
		} else if m[2] == "" {
			delete(unknown, m[1])
		}
	}
	for name, s := range secured(t).Services {
		if s.Build == nil {
			check(name, s.Image)
		}
	}
	if got, want := project(t).Services["elasticsearch"].Image, "elasticsearch:"+elasticserver.DefaultVersion+"@"; !strings.HasPrefix(got, want) {
		t.Errorf("Elasticsearch is %s; the tests run with %s", got, want)
	}
	for _, from := range dockerfile(t).all("FROM") {
		if image, _, _ := strings.Cut(from, " "); image != "scratch" {
			check("the Dockerfile", image)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^ *image: (\S+)`).FindAllStringSubmatch(read(t, "deploy/kubernetes/visitor/pod.yaml"), -1) {
		check("the visitor in Kubernetes", m[1])
	}
	for image, why := range unknown {
		t.Errorf("no image is %s any more (%s)", image, why)
	}
}

func TestNothingIsPublishedBeyondTheLoopbackAddress(t *testing.T) {
	published := map[string]string{}
	for name, s := range everything(t).Services {
		if s.NetworkMode != "" {
			t.Errorf("%s has the network mode %s", name, s.NetworkMode)
		}
		for _, port := range s.Ports {
			if other, taken := published[port.Published]; taken {
				t.Errorf("%s and %s publish %s", other, name, port.Published)
			}
			published[port.Published] = name
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %d at %q", name, port.Target, port.HostIP)
			}
			if !slices.Contains(listensOn(t, s), strconv.Itoa(int(port.Target))) {
				t.Errorf("%s publishes %d, where it does not listen", name, port.Target)
			}
		}
	}
	if len(published) == 0 {
		t.Error("nothing is published")
	}
}

// Compose would create an empty folder in place of a missing file.
func TestWhatIsMountedExists(t *testing.T) {
	for name, s := range everything(t).Services {
		for _, v := range s.Volumes {
			if v.Type != types.VolumeTypeBind {
				continue
			}
			inside, err := filepath.Rel(root(t), v.Source)
			if err != nil || !filepath.IsLocal(inside) {
				t.Errorf("%s mounts %s, which is not of the repository", name, v.Source)
			} else if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("%s mounts a missing file: %v", name, err)
			}
			if !v.ReadOnly {
				t.Errorf("%s can write to %s", name, inside)
			}
		}
	}
}

func TestStartOrder(t *testing.T) {
	p := everything(t)
	want := map[string]map[string]string{
		"elasticsearch": {},
		// It must accept deliveries while Elasticsearch is away.
		"riskdex": {"elasticsearch": types.ServiceConditionStarted},
		// It must report a riskdex that does not get healthy.
		"prometheus": {"riskdex": types.ServiceConditionStarted},
		"grafana":    {"prometheus": types.ServiceConditionHealthy},
		"postgres":   {},
		// It needs a journal to start, but not to keep running.
		"riskdex-1": {"elasticsearch": types.ServiceConditionStarted, "postgres": types.ServiceConditionHealthy},
		"riskdex-2": {"elasticsearch": types.ServiceConditionStarted, "postgres": types.ServiceConditionHealthy},
		// It must find out by itself which processes are ready.
		"balancer":           {"riskdex-1": types.ServiceConditionStarted, "riskdex-2": types.ServiceConditionStarted},
		"prometheus-cluster": {"riskdex-1": types.ServiceConditionStarted, "riskdex-2": types.ServiceConditionStarted},
	}
	for name, s := range p.Services {
		if len(s.DependsOn) != len(want[name]) {
			t.Errorf("%s depends on %v, want %v", name, s.DependsOn, want[name])
		}
		for on, how := range s.DependsOn {
			if how.Condition != want[name][on] || p.Services[on].HealthCheck == nil {
				t.Errorf("%s waits for %s to be %q, want %q", name, on, how.Condition, want[name][on])
			}
		}
	}
}

// riskdex needs up to 21 seconds for an orderly stop.
func TestRiskdexIsGivenTheTimeToStop(t *testing.T) {
	for name, s := range everything(t).Services {
		if s.Build != nil && (s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) < 30*time.Second) {
			t.Errorf("%s is killed after %v", name, s.StopGracePeriod)
		}
	}
}

// mounted returns the file of the repository that a service has at a path.
func mounted(t *testing.T, s types.ServiceConfig, path string) (name string, ok bool) {
	t.Helper()
	for _, v := range s.Volumes {
		below, err := filepath.Rel(v.Target, path)
		if v.Type != types.VolumeTypeBind || err != nil || !filepath.IsLocal(below) {
			continue
		}
		name, err := filepath.Rel(root(t), filepath.Join(v.Source, below))
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(filepath.Join(root(t), name))
		return name, err == nil
	}
	return "", false
}
