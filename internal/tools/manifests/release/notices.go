package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// licenceFile matches the files of a module that have to go with what is made from it.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|notice|copying|patents|authors)([.-].*)?$`)

// notices returns the licences of everything in a program.
func (s source) notices(ctx context.Context, program string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "riskdex %s: no licence has been chosen, so all rights are reserved. README.md says where the facts in it come from.\n"+
		"It has in it what follows, under the terms that follow.\n", s.version)
	goRoot, err := s.run(ctx, s.root, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := addNotices(&text, "Go "+info.GoVersion, goRoot); err != nil {
		return nil, err
	}
	for _, module := range info.Deps {
		dir, err := s.run(ctx, s.root, "go", "list", "-m", "-f", "{{.Dir}}", module.Path)
		if err != nil {
			return nil, err
		}
		if err := addNotices(&text, module.Path+" "+module.Version, dir); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

func addNotices(to *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, entry := range entries {
		if entry.IsDir() || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(to, "\n==== %s: %s\n\n%s\n", name, entry.Name(), bytes.TrimSpace(text))
	}
	if !found {
		return fmt.Errorf("%s has no licence that could go with the program", name)
	}
	return nil
}
