package compose

import (
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"riskdex/internal/testkit/needs"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
)

// instruction is an instruction of a Dockerfile.
type instruction struct{ word, rest string }

type instructions []instruction

// dockerfile reads the Dockerfile as far as these tests need it.
func dockerfile(t *testing.T) (all instructions) {
	t.Helper()
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(read(t, "Dockerfile"), "")
	text = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(text, "")
	for line := range strings.Lines(text) {
		if word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word != "" {
			all = append(all, instruction{word, rest})
		}
	}
	return all
}

// final returns the instructions of the last stage, which is the one that runs.
func (all instructions) final() instructions {
	for i := len(all) - 1; i > 0; i-- {
		if all[i].word == "FROM" {
			return all[i:]
		}
	}
	return all
}

func (all instructions) all(word string) (rest []string) {
	for _, i := range all {
		if i.word == word {
			rest = append(rest, i.rest)
		}
	}
	return rest
}

func (all instructions) only(t *testing.T, word string) string {
	t.Helper()
	rest := all.all(word)
	if len(rest) != 1 {
		t.Fatalf("the Dockerfile has %s %d times in its last stage", word, len(rest))
	}
	return rest[0]
}

// environment returns the environment that a service of the compose file starts with.
// Only riskdex has an image of ours.
func environment(t *testing.T, s types.ServiceConfig) map[string]string {
	t.Helper()
	env := map[string]string{}
	if s.Build != nil {
		for _, pair := range dockerfile(t).final().all("ENV") {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
	}
	for name, value := range s.Environment {
		if value == nil {
			t.Errorf("%s comes from the environment of whoever calls Compose", name)
			continue
		}
		env[name] = *value
	}
	return env
}

// listensOn returns the ports of a service that others can reach. Those of other images
// are listed here.
func listensOn(t *testing.T, s types.ServiceConfig) (ports []string) {
	t.Helper()
	if s.Build == nil {
		return map[string][]string{
			"elasticsearch": {"9200"}, "prometheus": {"9090"}, "grafana": {"3000"},
			"postgres": {"5432"}, "balancer": {"8080"}, "prometheus-cluster": {"9090"},
		}[s.Name]
	}
	for name, value := range environment(t, s) {
		if !strings.HasSuffix(name, "LISTEN") {
			continue
		}
		host, port, err := net.SplitHostPort(value)
		if err != nil || host != "0.0.0.0" {
			t.Errorf("%s is %s, where other containers cannot reach it", name, value)
		}
		ports = append(ports, port)
	}
	slices.Sort(ports)
	return ports
}

func TestTheImageSaysWhereItListens(t *testing.T) {
	exposed := strings.Fields(dockerfile(t).final().only(t, "EXPOSE"))
	if got := listensOn(t, project(t).Services["riskdex"]); !slices.Equal(got, exposed) || len(got) != 3 {
		t.Errorf("it listens on %v and exposes %v", got, exposed)
	}
}

// The journal must be in a volume, or it is lost with the container.
func TestTheJournalIsInAVolume(t *testing.T) {
	s := project(t).Services["riskdex"]
	journal := path.Dir(environment(t, s)["RISKDEX_JOURNAL"])
	if got := dockerfile(t).final().only(t, "VOLUME"); got != journal {
		t.Errorf("the volume of the image is %s, the journal is in %s", got, journal)
	}
	if !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool {
		return v.Type == types.VolumeTypeVolume && v.Source != "" && v.Target == journal && !v.ReadOnly
	}) {
		t.Errorf("no volume with a name is at %s", journal)
	}
}

// A volume gets its owner from the folder in the image, and riskdex, which does not run
// as root, must be able to write to it.
func TestTheImageRunsAsSomebodyWhoOwnsTheJournal(t *testing.T) {
	final := dockerfile(t).final()
	user := final.only(t, "USER")
	if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user) {
		t.Errorf("it runs as %s", user)
	}
	want := fmt.Sprintf("--chown=%s /out/data %s", user, final.only(t, "VOLUME"))
	if !slices.ContainsFunc(final.all("COPY"), func(copied string) bool { return strings.HasSuffix(copied, want) }) {
		t.Errorf("no COPY ends with %q", want)
	}
}

// An image without a libc needs a static program.
func TestTheProgramIsStaticAndWhatIsStarted(t *testing.T) {
	all := dockerfile(t)
	if build := strings.Join(all.all("RUN"), "\n"); !strings.Contains(build, "CGO_ENABLED=0 go build -trimpath ") || !strings.HasSuffix(build, " -o /out/riskdex ./cmd/riskdex\nmkdir /out/data") {
		t.Errorf("it is built by %s", build)
	}
	var start []string
	if err := json.Unmarshal([]byte(all.final().only(t, "ENTRYPOINT")), &start); err != nil {
		t.Fatal(err)
	}
	if len(start) != 1 || !slices.Contains(all.final().all("COPY"), "--from=build /out/riskdex "+start[0]) {
		t.Errorf("%q is started, which is not what was built", start)
	}
	if check := project(t).Services["riskdex"].HealthCheck.Test; check[1] != start[0] {
		t.Errorf("the health check is %q", check)
	}
}

func TestTheImageIsBuiltWithAGoThatTheModuleTakes(t *testing.T) {
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	if from := dockerfile(t).all("FROM")[0]; !strings.HasPrefix(from, "golang:"+wanted+".") {
		t.Errorf("it is built with %s; go.mod wants %s", from, wanted)
	}
}

// The build must not need anything that .dockerignore excludes.
func TestTheBuildHasItsFiles(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`,
		"./cmd/riskdex")
	cmd.Dir, cmd.Stderr = root(t), t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := append(strings.Fields(string(out)), filepath.Join(root(t), "go.mod"), filepath.Join(root(t), "go.sum"))
	if len(files) < 20 {
		t.Fatalf("riskdex has %d files only", len(files))
	}
	for _, file := range files {
		name, err := filepath.Rel(root(t), file)
		if err != nil {
			t.Fatal(err)
		}
		if pattern := leftOut(t, name); pattern != "" {
			t.Errorf("%s is left out by %q", name, pattern)
		}
	}
}

// Neither the history nor local files, such as journals, may get into the layers of an
// image.
func TestTheBuildHasNoMore(t *testing.T) {
	for _, name := range []string{".git/config", ".local/riskdex.db", "data/riskdex.db", "riskdex", "riskdex.db", "riskdex.db-wal"} {
		if leftOut(t, name) == "" {
			t.Errorf("%s is sent to the engine", name)
		}
	}
}

// leftOut returns the pattern of .dockerignore that excludes a file or one of its
// folders.
func leftOut(t *testing.T, name string) string {
	t.Helper()
	for line := range strings.Lines(read(t, ".dockerignore")) {
		pattern := strings.TrimSpace(line)
		if pattern == "" || strings.HasPrefix(pattern, "#") {
			continue
		}
		if strings.ContainsAny(pattern, "!") || strings.Contains(pattern, "**") {
			t.Fatalf("this test does not understand %q", pattern)
		}
		for part := name; part != "."; part = path.Dir(part) {
			if match, err := path.Match(pattern, part); err != nil {
				t.Fatal(err)
			} else if match {
				return pattern
			}
		}
	}
	return ""
}

// riskdex accepts the settings and commands that the files use.
func TestRiskdexTakesItsSettingsAndHealthCheck(t *testing.T) {
	needs.FullRun(t, "a build of riskdex")
	program := filepath.Join(t.TempDir(), "riskdex")
	build := exec.Command("go", "build", "-o", program, "./cmd/riskdex")
	build.Dir = root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	help := func(command ...string) string {
		out, err := exec.Command(program, append(command, "--help")...).CombinedOutput()
		if err != nil {
			t.Errorf("riskdex %q --help: %v\n%s", command, err, out)
		}
		return string(out)
	}
	known := map[string]bool{"GOMEMLIMIT": true, "PGPASSFILE": true} // Go's own, and PostgreSQL's
	for _, name := range regexp.MustCompile(`\$([A-Z_]+)\)`).FindAllStringSubmatch(help("serve"), -1) {
		known[name[1]] = true
	}
	for _, s := range everything(t).Services {
		if s.Build == nil {
			continue
		}
		help(s.HealthCheck.Test[2:]...)
		for name := range environment(t, s) {
			if !known[name] {
				t.Errorf("%s: riskdex serve has no setting %s", s.Name, name)
			}
		}
	}
}
