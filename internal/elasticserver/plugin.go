package elasticserver

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed plugin
var pluginFiles embed.FS

const (
	pluginName       = "riskdex-analysis"
	pluginDescriptor = "plugin-descriptor.properties"
)

// plugin is the source of the analysis plugin.
type plugin struct {
	files map[string][]byte
	hash  string // of the files and of the server that they are compiled for
}

func readPlugin() (plugin, error) {
	p := plugin{files: map[string][]byte{}}
	sum := sha256.New()
	fmt.Fprintln(sum, Version, zipSum)
	entries, err := pluginFiles.ReadDir("plugin") // sorted by name
	if err != nil {
		return plugin{}, fmt.Errorf("read the analysis plugin: %w", err)
	}
	for _, entry := range entries {
		content, err := fs.ReadFile(pluginFiles, "plugin/"+entry.Name())
		if err != nil {
			return plugin{}, fmt.Errorf("read the analysis plugin: %w", err)
		}
		p.files[entry.Name()] = content
		fmt.Fprintln(sum, entry.Name(), len(content))
		sum.Write(content)
	}
	p.hash = fmt.Sprintf("%.6x", sum.Sum(nil))
	return p, nil
}

// build compiles the plugin with the server's libraries and installs it among the
// server's plugins.
func (p plugin) build(ctx context.Context, server, javaHome string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("build the analysis plugin: %w", err)
		}
	}()
	javac, err := findJavac(javaHome)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "riskdex-plugin-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	classes := filepath.Join(work, "classes")
	args := []string{"--release", fmt.Sprint(oldestJava), "-d", classes, "-cp", filepath.Join(server, "lib", "*")}
	for name, content := range p.files {
		if !strings.HasSuffix(name, ".java") {
			continue
		}
		file := filepath.Join(work, name)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
		args = append(args, file)
	}
	if out, err := exec.CommandContext(ctx, javac, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", javac, err, bytes.TrimSpace(out))
	}

	jar, err := pack(os.DirFS(classes))
	if err != nil {
		return err
	}
	target := filepath.Join(server, "plugins", pluginName)
	if err := makeFolder(target); err != nil {
		return err
	}
	descriptor := append(bytes.Clone(p.files[pluginDescriptor]), "elasticsearch.version="+Version+"\n"...)
	return errors.Join(
		writeFile(filepath.Join(target, pluginName+".jar"), jar),
		writeFile(filepath.Join(target, pluginDescriptor), descriptor))
}

// pack returns a jar, which is a zip file, of the files.
func pack(files fs.FS) ([]byte, error) {
	var jar bytes.Buffer
	archive := zip.NewWriter(&jar)
	if err := archive.AddFS(files); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return jar.Bytes(), nil
}

// writeFile writes a file that everybody may read, whatever the umask is.
func writeFile(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}
