package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func hostPlatform() platform { return platform{runtime.GOOS, runtime.GOARCH} }

// build builds the program for a platform, and checks that it says what it was built from.
// It returns its path in the folder work.
func (s source) build(ctx context.Context, work string, p platform) (string, error) {
	program := filepath.Join(work, p.String(), "riskdex")
	if _, err := os.Stat(program); err == nil {
		return program, nil // for this machine, before
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/riskdex")
	// Whatever else changes the bytes is stated, since the environment may say otherwise.
	cmd.Env = append(os.Environ(), "GOOS="+p.system, "GOARCH="+p.processor, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0",
		"GOFLAGS=-trimpath -buildvcs=true", "GOTOOLCHAIN="+s.goVersion, "GOWORK=off")
	if _, err := output(cmd, s.root); err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", err
	}
	says := map[string]string{}
	for _, setting := range info.Settings {
		says[setting.Key] = setting.Value
	}
	if info.Main.Version != s.version || says["vcs.revision"] != s.commit || says["vcs.modified"] != "false" || info.GoVersion != s.goVersion {
		return "", fmt.Errorf("the program says that it is %s of commit %s by %s, and not %s of %s by %s", info.Main.Version, says["vcs.revision"], info.GoVersion,
			s.version, s.commit, s.goVersion)
	}
	return program, nil
}

// file is a file of a release: its name in archives, where it is now, and its mode.
type file struct {
	name, path string
	mode       os.FileMode
}

// texts returns what comes with every program: documents, manual pages, completions. own is
// a program for this machine, which writes them.
func (s source) texts(ctx context.Context, own, dir string) ([]file, error) {
	list := []file{}
	// Whatever the documents lead to is where their links look for it.
	names, err := s.run(ctx, s.root, "git", "ls-files", "--", "*.md", "*openapi.yaml", "docs", "examples", "deploy",
		":(glob)dashboards/*.yml", ":(glob)dashboards/*.json", ":(glob)mappings/*.json")
	if err != nil {
		return nil, err
	}
	for name := range strings.FieldsSeq(names) {
		list = append(list, file{name, filepath.Join(s.root, name), 0o644})
	}
	man := filepath.Join(dir, "man")
	if err := os.MkdirAll(man, 0o755); err != nil {
		return nil, err
	}
	// The links of the rules lead to the runbook that the installed service shows.
	rules, err := output(riskdex(ctx, own, "rules", "--runbook-url", "http://127.0.0.1:8081/runbook"), dir)
	if err != nil {
		return nil, err
	}
	linked := filepath.Join(dir, "rules.yml")
	if err := os.WriteFile(linked, []byte(rules+"\n"), 0o600); err != nil {
		return nil, err
	}
	for i, f := range list {
		if f.name == "dashboards/rules.yml" {
			list[i].path = linked
		}
	}
	if _, err := output(riskdex(ctx, own, "man", man), dir); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(man, "*"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		list = append(list, file{"man/" + filepath.Base(page), page, 0o644})
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := output(riskdex(ctx, own, "completion", shell), dir)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, "riskdex."+shell)
		if err := os.WriteFile(path, []byte(script+"\n"), 0o600); err != nil {
			return nil, err
		}
		list = append(list, file{"completion/riskdex." + shell, path, 0o644})
	}
	return list, nil
}

// riskdex is a command of riskdex without the settings of this machine, one of which may be
// wrong.
func riskdex(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "RISKDEX_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	return cmd
}
