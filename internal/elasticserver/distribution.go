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

// Version is the version of Elasticsearch that runs here. Production may run any 8.x.
const Version = "8.19.0"

// zipSum is the SHA-256 of the published zip file of that version.
const zipSum = "14833b2d86c30656901f92049f81fb5777a8e4545413c8656cd1a21b55173033"

// progress is where progress is reported.
type progress struct{ w io.Writer }

func (p progress) printf(format string, args ...any) {
	if p.w != nil {
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// prepare returns the folder of a server with the plugin, ready to run. An existing
// folder never changes: other versions have other folders.
func prepare(ctx context.Context, a *account, javaHome string, log progress) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	base, err := a.place(filepath.Join(root, ".local", "elasticsearch"), "servers")
	if err != nil {
		return "", err
	}
	return prepareIn(ctx, base, javaHome, source{fetch, zipSum}, log)
}

// source is where the server's zip file comes from, and its SHA-256.
type source struct {
	fetch func(context.Context, progress) (string, error)
	sum   string
}

func prepareIn(ctx context.Context, base, javaHome string, from source, log progress) (string, error) {
	plugin, err := readPlugin()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, Version+"-"+plugin.hash)
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
	if err := checkSum(archive, from.sum); err != nil {
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
	log.printf("unpacking Elasticsearch %s to %s", Version, dir)
	if err := unpack(archive, unfinished); err != nil {
		return "", err
	}
	log.printf("building the analysis plugin")
	if err := plugin.build(ctx, unfinished, javaHome); err != nil {
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
