package push

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// WriteDir writes a folder from which FromDir reads the same requests, except for What and
// the order between kinds. dir is created if necessary and must be empty. Requests that a
// folder cannot express are an error: a PUT before a POST, a second PUT or DELETE of one
// document.
func WriteDir(dir string, requests []Request) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- the sample feed is for everybody
		return fmt.Errorf("make the folder for deliveries: %w", err)
	}
	if entries, err := os.ReadDir(dir); err != nil {
		return fmt.Errorf("read the folder for deliveries: %w", err)
	} else if len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty: choose another, so that its files do not mix with these", dir)
	}
	posts := map[string]int{}
	for i, r := range requests {
		if i > 0 && methodRank(r) < methodRank(requests[i-1]) { // #nosec G602 -- i is at least 1
			return fmt.Errorf("%s %s comes after a %s, which a folder cannot express: it has all POSTs before all PUTs before all DELETEs",
				r.Method, r.Path, requests[i-1].Method) // #nosec G602 -- likewise
		}
		name, err := fileName(r, posts)
		if err != nil {
			return err
		}
		if err := writeNew(filepath.Join(dir, filepath.FromSlash(name)), r.Body); err != nil {
			return fmt.Errorf("write %s %s into the folder: %w", r.Method, r.Path, err)
		}
	}
	return nil
}

// fileName returns the name of a request's file; posts counts the POSTs of each kind.
func fileName(r Request, posts map[string]int) (string, error) {
	name := strings.TrimPrefix(r.Path, "/")
	switch r.Method {
	case http.MethodPost:
		posts[name]++
		if n := posts[name]; n > 1 {
			name += "." + strconv.Itoa(n)
		}
		name += ".json"
	case http.MethodPut:
		name += ".json"
	case http.MethodDelete:
		name += ".delete"
	}
	f, err := parseName(name)
	if err == nil && (f.request.Method != r.Method || f.request.Path != r.Path) {
		err = fmt.Errorf("%s stands for %s %s there", name, f.request.Method, f.request.Path)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s cannot be written into a folder: %w", r.Method, r.Path, err)
	}
	return name, nil
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { // #nosec G301 -- the sample feed is for everybody
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // #nosec G302 -- the sample feed is for everybody
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return errors.Join(err, f.Close())
}
