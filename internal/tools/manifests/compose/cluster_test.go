package compose

import (
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/jackc/pgx/v5"

	"riskdex/journal/postgres"
)

// the services of the profile that share a journal
var processes = []string{"riskdex-1", "riskdex-2"}

func TestTheProcessesShareAJournal(t *testing.T) {
	p := everything(t)
	alone := environment(t, p.Services["riskdex"])
	first := environment(t, p.Services[processes[0]])
	for _, name := range processes {
		s := p.Services[name]
		env := environment(t, s)
		if env["RISKDEX_JOURNAL"] != first["RISKDEX_JOURNAL"] || !postgres.IsURL(env["RISKDEX_JOURNAL"]) {
			t.Errorf("%s has the journal %s", name, env["RISKDEX_JOURNAL"])
		}
		u, err := url.Parse(env["RISKDEX_JOURNAL"])
		if err != nil {
			t.Fatal(err)
		}
		if port := u.Port(); port != "" {
			t.Errorf("%s names the port %s", name, port)
		}
		reachable(t, u.Hostname()+":5432")
		database := environment(t, p.Services["postgres"])
		if u.User.Username() != database["POSTGRES_USER"] || strings.Trim(u.Path, "/") != database["POSTGRES_DB"] {
			t.Errorf("%s has the journal %s, PostgreSQL has %v", name, u, database)
		}
		// Two journals that write into the same indices would undo each other's changes.
		if env["RISKDEX_INDEX_PREFIX"] != first["RISKDEX_INDEX_PREFIX"] || env["RISKDEX_INDEX_PREFIX"] == alone["RISKDEX_INDEX_PREFIX"] {
			t.Errorf("%s has the indices %q, a single riskdex %q", name, env["RISKDEX_INDEX_PREFIX"], alone["RISKDEX_INDEX_PREFIX"])
		}
		if len(s.Volumes) != 0 {
			t.Errorf("%s has volumes: %v", name, s.Volumes)
		}
	}
}

func TestTheDataOfPostgreSQLIsInAVolume(t *testing.T) {
	s := everything(t).Services["postgres"]
	if !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool {
		// The image keeps its data here up to version 17; later ones keep it elsewhere.
		return v.Type == types.VolumeTypeVolume && v.Source != "" && v.Target == "/var/lib/postgresql/data" && !v.ReadOnly
	}) || !strings.HasPrefix(s.Image, "postgres:17.") {
		t.Errorf("%s has the volumes %v", s.Image, s.Volumes)
	}
	if len(s.Ports) != 0 {
		t.Errorf("PostgreSQL is published at %v", s.Ports)
	}
}

// The password is only in a file that every operator creates.
func TestThePasswordIsASecret(t *testing.T) {
	p := everything(t)
	for _, name := range append([]string{"postgres"}, processes...) {
		s := p.Services[name]
		if len(s.Secrets) != 1 || p.Secrets[s.Secrets[0].Source].File == "" {
			t.Fatalf("%s has the secrets %v", name, s.Secrets)
		}
		at := path.Join("/run/secrets", s.Secrets[0].Source)
		env := environment(t, s)
		if name != "postgres" && env["PGPASSFILE"] != at {
			t.Errorf("%s reads %s, the secret is %s", name, env["PGPASSFILE"], at)
		}
		if name == "postgres" && !strings.Contains(strings.Join(s.Entrypoint, " "), at) {
			t.Errorf("%s is started by %q, the secret is %s", name, s.Entrypoint, at)
		}
		for variable := range env {
			if strings.Contains(variable, "PASSWORD") || variable == "POSTGRES_HOST_AUTH_METHOD" {
				t.Errorf("%s has %s in its environment", name, variable)
			}
		}
	}
	for _, s := range p.Secrets {
		if leftOut(t, strings.TrimPrefix(s.File, root(t)+"/")) == "" || !strings.Contains(read(t, ".gitignore"), ".local/\n") {
			t.Errorf("%s goes into images, or the repository", s.File)
		}
		// What the documents tell operators to make.
		if text := read(t, "docs/operations.md"); !strings.Contains(text, strings.TrimPrefix(s.File, root(t)+"/")) {
			t.Errorf("docs/operations.md does not say how to make %s", s.File)
		}
	}
}

// PostgreSQL gets the password that riskdex finds in the same file.
func TestBothSidesReadTheSamePassword(t *testing.T) {
	p := everything(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "pgpass")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("pgpass", "*:*:*:riskdex:c0ffee\n")
	write("docker-entrypoint.sh", "#!/bin/sh\nprintf %s \"$POSTGRES_PASSWORD $*\"\n")

	args := slices.Clone(p.Services["postgres"].Entrypoint)
	for i := range args {
		// Compose writes $$ for $.
		args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], "$$", "$"), "/run/secrets/pgpass", file)
	}
	start := exec.Command(args[0], args[1:]...)
	start.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := start.CombinedOutput()
	if err != nil || string(out) != "c0ffee postgres" {
		t.Errorf("PostgreSQL starts with %q: %v", out, err)
	}

	t.Setenv("PGPASSFILE", file)
	config, err := pgx.ParseConfig(environment(t, p.Services[processes[0]])["RISKDEX_JOURNAL"])
	if err != nil || config.Password != "c0ffee" {
		t.Errorf("riskdex shows the password %q: %v", config.Password, err)
	}
}
