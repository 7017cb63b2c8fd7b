package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// archive writes files into a .tar.gz, in one folder. Its bytes depend on nothing else.
func (s source) archive(path, folder string, files []file) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archived := tar.NewWriter(zipped)
	defer func() { err = errors.Join(err, archived.Close(), zipped.Close(), out.Close()) }()
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		header := &tar.Header{Format: tar.FormatUSTAR, Name: folder + "/" + f.name, Mode: int64(f.mode), Size: int64(len(content)), ModTime: s.time}
		if err := archived.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archived.Write(content); err != nil {
			return err
		}
	}
	return nil
}

// checksums writes SHA256SUMS, which sha256sum -c reads, and returns all files of the
// folder.
func checksums(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var sums strings.Builder
	for _, path := range files {
		in, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, in)
		in.Close()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum.Sum(nil), filepath.Base(path))
	}
	path := filepath.Join(dir, "SHA256SUMS")
	return append(files, path), os.WriteFile(path, []byte(sums.String()), 0o644)
}
