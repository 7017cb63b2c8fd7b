package mappings

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"

	"riskdex/report"
)

//go:embed *.json
var builtin embed.FS

// Set is what riskdex knows of its documents: for every kind, where the fields
// come from; how an index is made; how it is searched. It does not change and
// may be used concurrently.
type Set struct {
	kinds      map[report.Kind]*kindMapping
	index      indexFile
	search     searchFile
	hashes     map[report.Kind]string
	extractors sync.Pool // of *extractor
}

// Builtin returns the mappings that are part of the program.
func Builtin() (*Set, error) { return Load(builtin) }

// Load reads mappings from a folder, which has index.json, search.json and a
// file for every kind, named like cities.json. An error names the file, and the
// line where there is one.
func Load(folder fs.FS) (*Set, error) {
	s := &Set{kinds: make(map[report.Kind]*kindMapping), hashes: make(map[report.Kind]string)}
	s.extractors.New = func() any { return &extractor{seen: make(map[string]struct{})} }
	var err error
	if s.index, err = read(folder, "index.json", parseIndex); err != nil {
		return nil, err
	}
	if s.search, err = read(folder, "search.json", parseSearch); err != nil {
		return nil, err
	}
	for _, kind := range report.Kinds() {
		if s.kinds[kind], err = read(folder, string(kind)+".json", parseKind); err != nil {
			return nil, err
		}
		if s.hashes[kind], err = hash(s.index, s.kinds[kind]); err != nil {
			return nil, fmt.Errorf("taking the hash of the mapping of %s: %w", kind, err)
		}
	}
	return s, nil
}

func read[T any](folder fs.FS, name string, parse func([]byte) (T, error)) (T, error) {
	var nothing T
	data, err := fs.ReadFile(folder, name)
	if err != nil {
		return nothing, fmt.Errorf("reading the mapping file %s: %w", name, err)
	}
	parsed, err := parse(data)
	if err != nil {
		return nothing, fmt.Errorf("mapping file %s: %w", name, err)
	}
	return parsed, nil
}
