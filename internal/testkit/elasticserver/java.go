package elasticserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// findJava returns the home of the first Java of ES_JAVA_HOME, JAVA_HOME and PATH that is
// at least of a version and that the account may run.
func findJava(ctx context.Context, a *account, oldest int) (string, error) {
	var tried []error
	for _, variable := range []string{"ES_JAVA_HOME", "JAVA_HOME"} {
		home := os.Getenv(variable)
		if home == "" {
			continue
		}
		if err := checkJava(ctx, a, home, oldest); err != nil {
			tried = append(tried, fmt.Errorf("%s: %w", variable, err))
			continue
		}
		return home, nil
	}
	home, err := javaOnPath()
	if err == nil {
		err = checkJava(ctx, a, home, oldest)
	}
	if err != nil {
		tried = append(tried, fmt.Errorf("PATH: %w", err))
		return "", fmt.Errorf("no Java %d or newer for Elasticsearch: %w", oldest, errors.Join(tried...))
	}
	return home, nil
}

// javaOnPath follows the links from the java on PATH to its home.
func javaOnPath() (string, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return "", err
	}
	if java, err = filepath.EvalSymlinks(java); err != nil {
		return "", err
	}
	return filepath.Dir(filepath.Dir(java)), nil
}

func checkJava(ctx context.Context, a *account, home string, oldest int) error {
	java := filepath.Join(home, "bin", "java")
	cmd := exec.CommandContext(ctx, java, "-version")
	cmd.Dir = "/"
	cmd.SysProcAttr = a.attributes()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s -version: %w", java, err)
	}
	version := regexp.MustCompile(`version "(\d+)`).FindSubmatch(out)
	if version == nil {
		return fmt.Errorf("%s -version names no version: %q", java, out)
	}
	if major, err := strconv.Atoi(string(version[1])); err != nil || major < oldest {
		return fmt.Errorf("%s is version %s", java, version[1])
	}
	return nil
}
