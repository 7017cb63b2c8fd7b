package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// pack makes a package, .deb or .rpm.
func (s source) pack(format string, p platform, content []file, to string) error {
	work, err := os.MkdirTemp("", "riskdex-package-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	contents, err := s.installed(format, content, work)
	if err != nil {
		return err
	}
	script := func(name string) string { return filepath.Join(s.root, "deploy/packages", name+".sh") }
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "riskdex", Platform: p.system, Arch: p.processor, Version: s.version, VersionSchema: "semver",
		Section: "net", Priority: "optional",
		Maintainer:  "The developers of riskdex <riskdex@localhost>",
		Description: "keeps a search index in step with a travel-risk feed\nriskdex receives travel-risk content over HTTP, makes it durable in a journal,\nand keeps Elasticsearch in step with it.",
		License:     "none: all rights reserved, see NOTICES",
		MTime:       s.time,
		Overridables: nfpm.Overridables{
			Contents: contents,
			Scripts:  nfpm.Scripts{PostInstall: script("installed"), PreRemove: script("remove"), PostRemove: script("removed")},
			Deb:      nfpm.Deb{Compression: "gzip"},
			RPM:      nfpm.RPM{Compression: "gzip", BuildHost: "localhost", Summary: "Keeps a search index in step with a travel-risk feed"},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(to, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, out), out.Close())
}

// installed returns what a package installs.
func (s source) installed(format string, content []file, work string) (files.Contents, error) {
	var list files.Contents
	add := func(source, destination, kind string, mode os.FileMode) {
		list = append(list, &files.Content{Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: s.time}})
	}
	own := func(name string) string { return filepath.Join(s.root, "deploy/packages", name) }
	for _, unit := range []string{"riskdex.service", "riskdex-backup.service", "riskdex-backup.timer"} {
		add(own(unit), "/usr/lib/systemd/system/"+unit, files.TypeFile, 0o644)
	}
	for _, of := range []string{"sysusers", "tmpfiles"} { // the user, and what belongs to it
		add(own(of+".conf"), "/usr/lib/"+of+".d/riskdex.conf", files.TypeFile, 0o644)
	}
	add("", "/usr/lib/riskdex", files.TypeDir, 0o755)
	add(own("backup.sh"), "/usr/lib/riskdex/backup", files.TypeFile, 0o755)
	add("", "/usr/share/doc/riskdex", files.TypeDir, 0o755)
	add("", "/etc/riskdex", files.TypeDir, 0o755)
	// It may come to have secrets of Elasticsearch and PostgreSQL in it.
	add(own("riskdex.env"), "/etc/riskdex/riskdex.env", files.TypeConfigNoReplace, 0o600)
	folders := map[string]bool{"/usr/share/doc/riskdex": true}
	for _, f := range content {
		to, err := destination(format, f.name)
		if err != nil {
			return nil, err
		}
		path := f.path
		if strings.HasSuffix(to, ".gz") {
			path = filepath.Join(work, filepath.Base(to))
			if err := compress(f.path, path); err != nil {
				return nil, err
			}
		}
		var within []string
		for dir := filepath.Dir(to); strings.HasPrefix(dir, "/usr/share/doc/riskdex") && !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir], within = true, append(within, dir)
		}
		for _, dir := range slices.Backward(within) {
			add("", dir, files.TypeDir, 0o755)
		}
		add(path, to, files.TypeFile, f.mode)
	}
	return list, nil
}

// destination says where a file of the archive is installed.
func destination(format, name string) (string, error) {
	folder, base, inside := strings.Cut(name, "/")
	switch {
	case name == "riskdex":
		return "/usr/bin/riskdex", nil
	case name == "NOTICES" && format == "deb":
		return "/usr/share/doc/riskdex/copyright", nil
	case inside && folder == "man":
		return "/usr/share/man/man1/" + base + ".gz", nil
	case folder != "completion":
		return "/usr/share/doc/riskdex/" + name, nil
	case base == "riskdex.bash":
		return "/usr/share/bash-completion/completions/riskdex", nil
	case base == "riskdex.zsh" && format == "deb":
		return "/usr/share/zsh/vendor-completions/_riskdex", nil
	case base == "riskdex.zsh":
		return "/usr/share/zsh/site-functions/_riskdex", nil
	case base == "riskdex.fish":
		return "/usr/share/fish/vendor_completions.d/riskdex.fish", nil
	}
	return "", fmt.Errorf("no place is known for %s", name)
}

// compress writes a file as gzip, without its name and time.
func compress(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, zipped.Bytes(), 0o600)
}
