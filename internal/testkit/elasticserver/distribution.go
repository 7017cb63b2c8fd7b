package elasticserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// progress is where progress is reported.
type progress struct{ w io.Writer }

func (p progress) printf(format string, args ...any) {
	if p.w != nil {
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// sources are the files that a server is made of.
type sources struct {
	server   release
	fetch    func(context.Context, progress) (zip string, err error)
	compiler func(context.Context, progress) (jar string, err error)
}

func (r release) sources() sources { return sources{r, r.artifact().fetch, compiler().fetch} }

// prepareIn returns the folder, in base, of a server with the plugin, ready to run. An
// existing folder never changes: other versions have other folders.
func prepareIn(ctx context.Context, base, javaHome string, from sources, log progress) (string, error) {
	plugin, err := readPlugin(from.server)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, from.server.version+"-"+plugin.hash)
	if ready, err := exists(dir); ready || err != nil {
		return dir, err
	}
	unlock, err := lock(ctx, filepath.Join(base, "lock"), log)
	if err != nil {
		return "", err
	}
	defer unlock()
	if ready, err := exists(dir); ready || err != nil {
		return dir, err // another process has made it meanwhile
	}

	archive, err := from.fetch(ctx, log)
	if err != nil {
		return "", err
	}
	compiler, err := from.compiler(ctx, log)
	if err != nil {
		return "", err
	}
	// The folder is made under another name and then renamed, so that a folder with the
	// final name is complete. Because of the lock, leftovers of an aborted process are
	// ours.
	unfinished := filepath.Join(base, "unfinished")
	if err := os.RemoveAll(unfinished); err != nil {
		return "", fmt.Errorf("remove what is left of an earlier attempt: %w", err)
	}
	if err := makeFolder(unfinished); err != nil {
		return "", fmt.Errorf("make a folder for the server: %w", err)
	}
	log.printf("unpacking Elasticsearch %s to %s", from.server.version, dir)
	if err := unpack(archive, unfinished); err != nil {
		return "", err
	}
	log.printf("building the analysis plugin")
	if err := plugin.build(ctx, unfinished, javaHome, compiler); err != nil {
		return "", err
	}
	if err := os.Rename(unfinished, dir); err != nil {
		return "", fmt.Errorf("put the server in its place: %w", err)
	}
	return dir, nil
}

func exists(path string) (bool, error) {
	switch _, err := os.Stat(path); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	default:
		return false, fmt.Errorf("look for the unpacked server: %w", err)
	}
}
