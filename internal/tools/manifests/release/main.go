// Command release builds what a version of riskdex is published as: programs for Linux and
// macOS in archives, packages for Debian and RPM, what they are made of, and checksums.
//
//	go run ./release VERSION FOLDER
//
// VERSION is a tag of the commit that is checked out. The same commit gives the same bytes,
// on every machine and in every folder.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	if len(os.Args) != 3 || os.Args[1] == "" {
		fmt.Fprintln(os.Stderr, "release: say which version, which is a tag: make release VERSION=v1.2.3")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	files, err := release(ctx, ".", os.Args[1], os.Args[2], platforms)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(2)
	}
	for _, file := range files {
		fmt.Println(file)
	}
}

// platforms are those that riskdex is published for.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// platform is an operating system and a processor, as Go names them.
type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "_" + p.processor }

// release writes all files of a version into a folder that it empties first, and returns
// their paths. The repository is the one that dir is in.
func release(ctx context.Context, dir, version, to string, platforms []platform) ([]string, error) {
	src, err := checkout(ctx, dir, version)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "riskdex-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if err := os.RemoveAll(to); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	tell("building riskdex %s for this machine, which writes manual pages and completions", version)
	own, err := src.build(ctx, work, hostPlatform())
	if err != nil {
		return nil, err
	}
	texts, err := src.texts(ctx, own, filepath.Join(work, "texts"))
	if err != nil {
		return nil, err
	}
	for i, p := range platforms {
		tell("%d of %d: %s, about a minute and a half where nothing is compiled yet", i+1, len(platforms), p)
		if err := src.publish(ctx, p, work, texts, to); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	return checksums(to)
}

// tell says what takes its time, beside the names of files on standard output.
func tell(format string, args ...any) { fmt.Fprintf(os.Stderr, "release: "+format+"\n", args...) }

// publish writes the files for one platform.
func (s source) publish(ctx context.Context, p platform, work string, texts []file, to string) error {
	program, err := s.build(ctx, work, p)
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, s.tools(), "go", "run", "./sbom", program, filepath.Join(to, s.name(p)+".cdx.json")); err != nil {
		return fmt.Errorf("list what it is made of: %w", err)
	}
	notices, err := s.notices(ctx, program)
	if err != nil {
		return err
	}
	content := append([]file{{"riskdex", program, 0o755}, {"NOTICES", "", 0o644}}, texts...)
	content[1].path = filepath.Join(work, "NOTICES")
	if err := os.WriteFile(content[1].path, notices, 0o600); err != nil {
		return err
	}
	if err := s.archive(filepath.Join(to, s.name(p)+".tar.gz"), s.name(p), content); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if p.system != "linux" {
		return nil
	}
	for _, format := range []string{"deb", "rpm"} {
		if err := s.pack(format, p, content, to); err != nil {
			return fmt.Errorf("make the .%s: %w", format, err)
		}
	}
	return nil
}

// name is that of the files for a platform, without the ending.
func (s source) name(p platform) string { return "riskdex_" + s.number() + "_" + p.String() }
