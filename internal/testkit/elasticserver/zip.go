package elasticserver

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// checkSum fails unless the SHA-256 of the file is want, in hexadecimal.
func checkSum(file, want string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("check %s: %w", file, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("check %s: %w", file, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("%s is damaged or not what was published (SHA-256 %s, expected %s): remove it, it is fetched again", file, got, want)
	}
	return nil
}

// unpack writes what is below the single folder at the top of a zip file into dir,
// readable by everybody whatever the umask is.
func unpack(file, dir string) error {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", file, err)
	}
	defer archive.Close()
	for _, entry := range archive.File {
		_, name, _ := strings.Cut(entry.Name, "/")
		if name == "" {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("unpack %s: entry %q leads out of the folder", file, entry.Name)
		}
		if err := unpackEntry(entry, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("unpack %s: %w", file, err)
		}
	}
	return nil
}

func unpackEntry(entry *zip.File, target string) error {
	if entry.FileInfo().IsDir() {
		return makeFolder(target)
	}
	if err := makeFolder(filepath.Dir(target)); err != nil {
		return err
	}
	in, err := entry.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(target)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if entry.Mode()&0o100 != 0 {
		mode = 0o755
	}
	return os.Chmod(target, mode)
}

// makeFolder makes a folder that everybody may read, whatever the umask is. Its parent
// must exist or be made by the same call.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}
