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
	server release // for which it is compiled
	files  map[string][]byte
	hash   string // of the files and the server
}

func readPlugin(server release) (plugin, error) {
	p := plugin{server: server, files: map[string][]byte{}}
	sum := sha256.New()
	fmt.Fprintln(sum, server.version, server.sum, compiler().sum)
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

// compiler is the Java compiler of Eclipse. The Java that runs a server may be too old to
// compile for it, or come without a compiler.
func compiler() artifact {
	return artifact{
		group: "org.eclipse.jdt", name: "ecj", version: "3.43.0", extension: "jar",
		sum: "c786468c65e906498e7e36ece4e0d04c6d3dd34c9a61b34a3a5b512801911a82", size: "3 MB",
	}
}

// build compiles the plugin with the server's libraries and installs it among the
// plugins of the server in a folder.
func (p plugin) build(ctx context.Context, folder, javaHome, compiler string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("build the analysis plugin: %w", err)
		}
	}()
	work, err := os.MkdirTemp("", "riskdex-plugin-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	classes := filepath.Join(work, "classes")
	libraries, err := filepath.Glob(filepath.Join(folder, "lib", "*.jar"))
	if err != nil {
		return err
	}
	args := []string{"-jar", compiler, fmt.Sprintf("-%d", p.server.java), "-proc:none", "-nowarn", "-d", classes,
		"-cp", strings.Join(libraries, string(os.PathListSeparator))}
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
	java := filepath.Join(javaHome, "bin", "java")
	if out, err := exec.CommandContext(ctx, java, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", java, err, bytes.TrimSpace(out))
	}

	jar, err := pack(os.DirFS(classes))
	if err != nil {
		return err
	}
	target := filepath.Join(folder, "plugins", pluginName)
	if err := makeFolder(target); err != nil {
		return err
	}
	descriptor := append(bytes.Clone(p.files[pluginDescriptor]), "elasticsearch.version="+p.server.version+"\n"...)
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
