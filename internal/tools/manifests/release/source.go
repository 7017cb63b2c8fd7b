package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// source is a commit that is checked out, and is a version.
type source struct {
	root, version, commit string
	time                  time.Time // of the commit
	goVersion             string    // such as go1.26.8
}

// versionForm is a semantic version with the v that Go wants.
var versionForm = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

// checkout returns the commit that is checked out in the repository around dir. It is an
// error if that is not exactly the version, or nobody could tell what is new in it.
func checkout(ctx context.Context, dir, version string) (s source, err error) {
	if !versionForm.MatchString(version) {
		return s, fmt.Errorf("%q is not a version: say it as v1.2.3, or v1.2.3-rc.1", version)
	}
	s = source{root: dir, version: version}
	if s.root, err = s.git(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return s, err
	}
	if s.commit, err = s.git(ctx, "rev-parse", "HEAD"); err != nil {
		return s, err
	}
	changes, err := s.git(ctx, "status", "--porcelain")
	if err != nil {
		return s, err
	}
	if changes != "" {
		return s, fmt.Errorf("files differ from the commit; commit them, or remove them:\n%s", changes)
	}
	if err := s.checkTag(ctx); err != nil {
		return s, err
	}
	stamp, err := s.git(ctx, "show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return s, err
	}
	if s.time, err = time.Parse(time.RFC3339, stamp); err != nil {
		return s, err
	}
	s.time = s.time.UTC()
	if err := s.checkChangelog(); err != nil {
		return s, err
	}
	s.goVersion, err = s.imageGo()
	return s, err
}

func (s source) checkTag(ctx context.Context) error {
	tagged, err := s.git(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+s.version+"^{commit}")
	if err != nil {
		return fmt.Errorf("there is no tag %s; make it: git tag -a %[1]s -m %[1]s", s.version)
	}
	if tagged != s.commit {
		return fmt.Errorf("the tag %s is of commit %.12s, and %.12s is checked out; check the tag out: git checkout %s", s.version, tagged, s.commit, s.version)
	}
	return nil
}

func (s source) checkChangelog() error {
	text, err := os.ReadFile(filepath.Join(s.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if heading := "\n## [" + s.number() + "]"; !strings.Contains(string(text), heading) {
		return fmt.Errorf("CHANGELOG.md has no section %q: give what is new that heading", strings.TrimSpace(heading))
	}
	return nil
}

// imageGo returns the version of Go that the image is built with, so that all that is
// published is built with the same.
func (s source) imageGo() (string, error) {
	text, err := os.ReadFile(filepath.Join(s.root, "Dockerfile"))
	if err != nil {
		return "", err
	}
	from := regexp.MustCompile(`(?m)^FROM golang:(\d+\.\d+\.\d+)`).FindSubmatch(text)
	if from == nil {
		return "", errors.New("the Dockerfile does not say from which version of Go the image is built: FROM golang:1.2.3")
	}
	return "go" + string(from[1]), nil
}

// number is the version without its v.
func (s source) number() string { return strings.TrimPrefix(s.version, "v") }

// tools is the folder of the module that this command is in.
func (s source) tools() string { return filepath.Join(s.root, "internal/tools/manifests") }

func (s source) git(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, s.root, "git", args...)
}

// run runs a program in a folder and returns its output without spaces around it.
func (s source) run(ctx context.Context, dir, program string, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, program, args...), dir)
}

func output(cmd *exec.Cmd, dir string) (string, error) {
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}
