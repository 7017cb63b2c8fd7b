package compose

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"

	"riskdex/internal/testkit/elasticserver"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
)

// secured returns docker-compose.yml with Elasticsearch's security on, and all profiles.
func secured(t *testing.T) *types.Project {
	t.Helper()
	return load(t, []string{"docker-compose.yml", "deploy/secured/docker-compose.yml"}, "*")
}

// What differs from docker-compose.yml is only what security asks for.
func TestSecuredIsTheSameOtherwise(t *testing.T) {
	plain, p := everything(t), secured(t)
	for name, s := range plain.Services {
		if got := p.Services[name]; got.Image != s.Image || len(got.Ports) != len(s.Ports) || len(got.CapAdd) > 0 || got.MemLimit != s.MemLimit {
			t.Errorf("%s is %+v, and was %+v", name, got, s)
		}
	}
	setup := p.Services["elasticsearch-setup"]
	if len(p.Services) != len(plain.Services)+1 || setup.Image != plain.Services["elasticsearch"].Image || setup.NetworkMode != "none" {
		t.Errorf("the set-up is %+v", setup)
	}
}

func TestSecuredSpeaksHTTPS(t *testing.T) {
	p := secured(t)
	readers := 0
	for name, s := range p.Services {
		env := environment(t, s)
		address, asks := env["ELASTICSEARCH_URL"]
		if !asks {
			continue
		}
		readers++
		if address != "https://elasticsearch:9200" || s.DependsOn["elasticsearch-setup"].Condition != types.ServiceConditionCompletedSuccessfully {
			t.Errorf("%s asks %s and depends on %v", name, address, s.DependsOn)
		}
		for _, file := range []string{env["ELASTICSEARCH_PASSWORD_FILE"], env["ELASTICSEARCH_CA_FILE"]} {
			if v := volumeOf(s, filepath.Dir(file)); v == nil || v.Source != "secrets" || !v.ReadOnly {
				t.Errorf("%s reads %s from %+v", name, file, v)
			}
		}
	}
	if readers != 3 {
		t.Errorf("%d services ask Elasticsearch", readers)
	}
	e := p.Services["elasticsearch"]
	env := environment(t, e)
	for _, file := range []string{env["xpack.security.http.ssl.certificate"], env["xpack.security.http.ssl.key"]} {
		if filepath.Dir(file) != "secured" {
			t.Errorf("Elasticsearch reads %s", file)
		}
	}
	setup := p.Services["elasticsearch-setup"]
	if env["xpack.security.enabled"] != "true" || env["xpack.security.http.ssl.enabled"] != "true" ||
		e.DependsOn["elasticsearch-setup"].Condition != types.ServiceConditionCompletedSuccessfully ||
		volumeOf(e, "/usr/share/elasticsearch/config").Source != volumeOf(setup, "/usr/share/elasticsearch/config").Source {
		t.Errorf("Elasticsearch is %+v", e)
	}
}

func volumeOf(s types.ServiceConfig, target string) *types.ServiceVolumeConfig {
	for _, v := range s.Volumes {
		if v.Target == target {
			return &v
		}
	}
	return nil
}

// The script of the set-up runs here as in the image, for a real Elasticsearch.
func TestSetUpOfSecurity(t *testing.T) {
	needs.Program(t, "unzip", "apt-get install unzip")
	server := elastictest.Start(t, elasticserver.Options{Security: &elasticserver.Security{}})
	config, secrets := filepath.Join(server.Home(), "config"), t.TempDir()
	folder, env := server.Installation()
	run := func() (password string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(root(t), "deploy/secured/setup.sh"), folder, secrets)
		cmd.Env = append(env, "ELASTICSEARCH_OWNER="+ownerOf(t, config), "RISKDEX_OWNER="+ownerOf(t, secrets))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return content(t, secrets, "password")
	}
	password := run()

	// What Elasticsearch shows is what riskdex trusts.
	pair, err := tls.LoadX509KeyPair(filepath.Join(config, "secured", "http.crt"), filepath.Join(config, "secured", "http.key"))
	require.NoError(t, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(content(t, secrets, "ca.crt"))) {
		t.Fatal("riskdex gets no authority")
	}
	for _, name := range []string{"elasticsearch", "localhost", "127.0.0.1"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	// The user may do what riskdex does, and no more.
	ask := func(method, path, body string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, strings.NewReader(body))
		require.NoError(t, err)
		req.SetBasicAuth("riskdex", password)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		return res.StatusCode
	}
	await(t, "the user is known", func() bool { return ask("GET", "/_cluster/health", "") == http.StatusOK })
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"PUT", "/_index_template/riskdex", `{"index_patterns": ["cities-*"]}`, http.StatusOK},
		{"PUT", "/cities-1", "{}", http.StatusOK},
		{"PUT", "/cluster-special-reports-1", "{}", http.StatusOK},
		{"PUT", "/somebody-elses", "{}", http.StatusForbidden},
		{"PUT", "/_security/user/another", `{"password": "long enough", "roles": ["superuser"]}`, http.StatusForbidden},
		{"PUT", "/_cluster/settings", `{"persistent": {"action.auto_create_index": "false"}}`, http.StatusForbidden},
	} {
		if got := ask(c.method, c.path, c.body); got != c.want {
			t.Errorf("%s %s is answered %d, want %d", c.method, c.path, got, c.want)
		}
	}

	if again := run(); again != password {
		t.Error("the next start makes another password")
	}
	require.NoError(t, os.Remove(filepath.Join(secrets, "complete"))) // as if it had been killed
	if again := run(); again == password {
		t.Error("what is not complete is not made anew")
	}
}

func content(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return string(text)
}

// ownerOf returns the user and the group of a folder, for chown.
func ownerOf(t *testing.T, folder string) string {
	t.Helper()
	info, err := os.Stat(folder)
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", owner.Uid, owner.Gid)
}
