package push

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"riskdex/report"
)

// layout describes a folder of deliveries, for error messages.
const layout = "expected, for cities, advisories and special-reports alike: " +
	"cities.json, cities.2.json and so on to POST, cities/ID.json to PUT, cities/ID.delete to DELETE, with ID percent-encoded"

// FromDir reads a folder of deliveries:
//
//	cities.json       POST /cities
//	cities.2.json     POST /cities, after the one above; any number from 2
//	cities/ID.json    PUT /cities/ID
//	cities/ID.delete  DELETE /cities/ID; what is in the file is ignored
//
// and likewise for advisories and special-reports. ID is the document's id, percent-encoded
// if a file name needs it. All POSTs come first, then all PUTs, then all DELETEs; within
// each, by kind, then by number or name. Anything else in the folder is an error that names
// it. Bodies are not checked, which is the receiver's task.
func FromDir(fsys fs.FS) ([]Request, error) {
	var found []file
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read the folder of deliveries: %w", err)
		}
		if entry.IsDir() {
			return checkFolder(name)
		}
		f, err := parseName(name)
		if err != nil {
			return err
		}
		if f.request.Method != http.MethodDelete {
			if f.request.Body, err = fs.ReadFile(fsys, name); err != nil {
				return fmt.Errorf("read a delivery: %w", err)
			}
		}
		found = append(found, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("the folder has no deliveries; " + layout)
	}
	slices.SortFunc(found, func(a, b file) int {
		return cmp.Or(cmp.Compare(methodRank(a.request), methodRank(b.request)), cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.number, b.number), cmp.Compare(a.request.What, b.request.What))
	})
	requests := make([]Request, len(found))
	for i, f := range found {
		requests[i] = f.request
	}
	return requests, nil
}

// file is a file of the folder and its place in the order.
type file struct {
	kind    int // position in report.Kinds
	number  int // of a POST, from 1
	request Request
}

func methodRank(r Request) int {
	return slices.Index([]string{http.MethodPost, http.MethodPut, http.MethodDelete}, r.Method)
}

func checkFolder(name string) error {
	if _, err := report.ParseKind(name); name != "." && err != nil {
		return fmt.Errorf("the folder %s is not part of a folder of deliveries; %s", name, layout)
	}
	return nil
}

// parseName returns the request that a file's name stands for, without its body.
func parseName(name string) (file, error) {
	unknown := func(why string) (file, error) {
		return file{}, fmt.Errorf("the file %s %s; %s", name, why, layout)
	}
	folder, base := path.Split(name)
	extension := path.Ext(base)
	stem := strings.TrimSuffix(base, extension)
	if folder == "" {
		collection, suffix, numbered := strings.Cut(stem, ".")
		kind, err := report.ParseKind(collection)
		if err != nil || extension != ".json" {
			return unknown("is not a delivery")
		}
		number := 1
		if numbered {
			if number, err = strconv.Atoi(suffix); err != nil || number < 2 || strconv.Itoa(number) != suffix {
				return unknown("has no number of at least 2 after its kind")
			}
		}
		return file{slices.Index(report.Kinds(), kind), number, Request{Method: http.MethodPost, Path: "/" + collection, What: name}}, nil
	}
	kind, err := report.ParseKind(strings.TrimSuffix(folder, "/"))
	if err != nil {
		return unknown("is in a folder that does not belong here")
	}
	method, ok := map[string]string{".json": http.MethodPut, ".delete": http.MethodDelete}[extension]
	if !ok {
		return unknown("is not a delivery")
	}
	text, err := url.PathUnescape(stem)
	if err != nil {
		return unknown("has a name that is not percent-encoded")
	}
	id, err := report.ParseID(text)
	if err != nil {
		return unknown("names no document: " + err.Error())
	}
	return file{slices.Index(report.Kinds(), kind), 0, Request{Method: method, Path: Path(kind, id), What: name}}, nil
}
