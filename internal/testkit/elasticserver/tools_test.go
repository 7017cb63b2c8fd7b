package elasticserver

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// anyServer returns the release that runs by default.
func anyServer(t *testing.T) release {
	t.Helper()
	r, err := releaseOf(DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// script puts an executable shell script into dir.
func script(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFetchAsksMavenOnlyForWhatIsMissing(t *testing.T) {
	bin, repository := t.TempDir(), t.TempDir()
	server := anyServer(t).artifact()
	server.sum = fmt.Sprintf("%x", sha256.Sum256(nil)) // of the empty file that this Maven leaves
	folder := filepath.Join(repository, "org/elasticsearch/distribution/integ-test-zip/elasticsearch", DefaultVersion)
	t.Setenv("FOLDER", folder)
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv("MAVEN_OPTS", "-Xmx1g -Dmaven.repo.local="+repository)
	script(t, bin, "mvn", `mkdir -p "$FOLDER" && echo "$@" >> "$FOLDER/../../calls" && : > "$FOLDER/elasticsearch-`+DefaultVersion+`.zip"`)
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		file, err := server.fetch(t.Context(), progress{})
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(folder, "elasticsearch-"+DefaultVersion+".zip"); file != want {
			t.Errorf("got %s, want %s", file, want)
		}
	}
	calls, err := os.ReadFile(filepath.Join(repository, "org/elasticsearch/distribution/integ-test-zip/calls"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(calls), "\n") != 1 || !strings.Contains(string(calls),
		"-Dartifact=org.elasticsearch.distribution.integ-test-zip:elasticsearch:"+DefaultVersion+":zip") {
		t.Errorf("Maven was called with:\n%s", calls)
	}
}

func TestFetchShowsWhatMavenSays(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv("MAVEN_OPTS", "-Dmaven.repo.local="+t.TempDir())
	script(t, bin, "mvn", "echo no route to anywhere; exit 1")
	if _, err := compiler().fetch(t.Context(), progress{}); err == nil || !strings.Contains(err.Error(), "no route to anywhere") {
		t.Errorf("got %v", err)
	}
	script(t, bin, "mvn", `for last; do :; done; echo "$last" > "$FILE"`)
	damaged := filepath.Join(t.TempDir(), "org/eclipse/jdt/ecj", compiler().version, "ecj-"+compiler().version+".jar")
	t.Setenv("FILE", damaged)
	t.Setenv("MAVEN_OPTS", "-Dmaven.repo.local="+strings.TrimSuffix(filepath.Dir(damaged), "/org/eclipse/jdt/ecj/"+compiler().version))
	if err := os.MkdirAll(filepath.Dir(damaged), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := compiler().fetch(t.Context(), progress{}); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("got %v", err)
	}
	t.Setenv("MAVEN_OPTS", "-Dmaven.repo.local="+t.TempDir())
	script(t, bin, "mvn", "exit 0")
	if _, err := compiler().fetch(t.Context(), progress{}); err == nil || !strings.Contains(err.Error(), "left nothing") {
		t.Errorf("got %v", err)
	}
}

func TestMavenRepository(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv("MAVEN_ARGS", "")
	t.Setenv("MAVEN_OPTS", "")
	check := func(want string) {
		t.Helper()
		if got, err := mavenRepository(); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	check(user + "/.m2/repository")
	if err := os.Mkdir(user+"/.m2", 0o700); err != nil {
		t.Fatal(err)
	}
	settings := `<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0"><localRepository>${user.home}/jars</localRepository></settings>`
	if err := os.WriteFile(user+"/.m2/settings.xml", []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	check(user + "/jars")
	t.Setenv("MAVEN_ARGS", "-o -Dmaven.repo.local=/elsewhere")
	check("/elsewhere")
}

func TestMissingToolsAreNamedWithTheirPackage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", t.TempDir())
	t.Setenv("ES_JAVA_HOME", "")
	t.Setenv("MAVEN_ARGS", "-Dmaven.repo.local="+t.TempDir())
	_, java := javaFor(t.Context(), nil, anyServer(t), t.TempDir(), progress{})
	_, mvn := compiler().fetch(t.Context(), progress{})
	for want, err := range map[string]error{
		"no Java 17 or newer":          java,
		"apt-get install python3-venv": java,
		"apt-get install maven":        mvn,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}

func TestFirstJavaThatIsNewEnoughIsTaken(t *testing.T) {
	folder := func(version string) string {
		dir := t.TempDir()
		script(t, filepath.Join(dir, "bin"), "java", `echo 'openjdk version "`+version+`" 2025-01-01' >&2`)
		return dir
	}
	eleven, seventeen, twentyOne := folder("11.0.2"), folder("17.0.15"), folder("21")
	t.Setenv("PATH", filepath.Join(twentyOne, "bin")+":/usr/bin:/bin")
	for _, c := range []struct {
		es, java string
		oldest   int
		want     string
	}{
		{"", "", 17, twentyOne},
		{"", seventeen, 17, seventeen},
		{"", seventeen, 21, twentyOne},
		{seventeen, twentyOne, 17, seventeen},
		{seventeen, twentyOne, 21, twentyOne},
		{eleven, seventeen, 17, seventeen},
		{eleven, t.TempDir(), 17, twentyOne},
	} {
		t.Setenv("ES_JAVA_HOME", c.es)
		t.Setenv("JAVA_HOME", c.java)
		if got, err := findJava(t.Context(), nil, c.oldest); err != nil || got != c.want {
			t.Errorf("ES_JAVA_HOME %q, JAVA_HOME %q, at least %d: got %q, %v; want %q", c.es, c.java, c.oldest, got, err, c.want)
		}
	}
}
