package elasticserver

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// artifact is a file that Maven fetches.
type artifact struct {
	group, name, version, extension string

	sum  string // SHA-256
	size string // about, for people
}

// fetch returns the path of an artifact in the local Maven repository. If it is missing,
// Maven fetches it first.
func (f artifact) fetch(ctx context.Context, log progress) (string, error) {
	repository, err := mavenRepository()
	if err != nil {
		return "", err
	}
	file := filepath.Join(repository, filepath.FromSlash(strings.ReplaceAll(f.group, ".", "/")),
		f.name, f.version, f.name+"-"+f.version+"."+f.extension)
	switch _, err := os.Stat(file); {
	case err == nil:
		return file, checkSum(file, f.sum)
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("look for %s in the local Maven repository: %w", f.name, err)
	}

	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("no Maven to fetch %s with (on Debian: apt-get install maven): %w", f.name, err)
	}
	log.printf("fetching %s %s with Maven (%s)", f.name, f.version, f.size)
	cmd := exec.CommandContext(ctx, mvn, "--batch-mode", "--quiet", "-Dmaven.repo.local="+repository,
		"dependency:get", "-Dtransitive=false",
		"-Dartifact="+strings.Join([]string{f.group, f.name, f.version, f.extension}, ":"))
	cmd.Dir = os.TempDir() // away from any project file
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetch %s: %w\n%s", f.name, err, bytes.TrimSpace(out))
	}
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("fetch %s: Maven reports success, but left nothing: %w", f.name, err)
	}
	return file, checkSum(file, f.sum)
}

// mavenRepository returns the folder in which Maven keeps what it has fetched: that of
// MAVEN_ARGS or MAVEN_OPTS, of the user's settings, or the default.
func mavenRepository() (string, error) {
	for _, variable := range []string{"MAVEN_ARGS", "MAVEN_OPTS"} {
		for arg := range strings.FieldsSeq(os.Getenv(variable)) {
			if dir, found := strings.CutPrefix(arg, "-Dmaven.repo.local="); found {
				return dir, nil
			}
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the local Maven repository: %w", err)
	}
	settings, err := os.ReadFile(filepath.Join(home, ".m2", "settings.xml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("find the local Maven repository: %w", err)
	}
	if err == nil {
		var parsed struct {
			LocalRepository string `xml:"localRepository"`
		}
		if err := xml.Unmarshal(settings, &parsed); err != nil {
			return "", fmt.Errorf("find the local Maven repository in %s/.m2/settings.xml: %w", home, err)
		}
		if dir := strings.TrimSpace(parsed.LocalRepository); dir != "" {
			return strings.ReplaceAll(dir, "${user.home}", home), nil
		}
	}
	return filepath.Join(home, ".m2", "repository"), nil
}
