package elasticserver

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The versions of Elasticsearch that run here.
const (
	// DefaultVersion is the one that runs unless another is chosen.
	DefaultVersion = "8.19.14"
	// NextVersion is of the next major version.
	NextVersion = "9.2.0"
	// EarlierVersion is one whose data NextVersion reads: DefaultVersion came out after that.
	EarlierVersion = "8.19.0"
)

// release is a published version of Elasticsearch.
type release struct {
	version string
	sum     string // SHA-256 of its zip file
	java    int    // the oldest Java that it runs on
}

// releases are in the order in which they came out. None reads the data of a later one.
func releases() []release {
	return []release{
		{EarlierVersion, "14833b2d86c30656901f92049f81fb5777a8e4545413c8656cd1a21b55173033", 17},
		{NextVersion, "bf44938a0490ba2a303d39c9cb64b38963dd08c812ce93e10816e878585bcb6b", 21},
		{DefaultVersion, "71c377930b32869b1ba158327e05c886995d35d427cac951be12b67a6595c1bb", 17},
	}
}

// reads reports whether a release reads the data of another version: one with no higher number
// that came out no later.
func (r release) reads(version string) bool {
	all := releases()
	place := func(version string) int {
		return slices.IndexFunc(all, func(r release) bool { return r.version == version })
	}
	return slices.Compare(numbers(r.version), numbers(version)) >= 0 && place(r.version) >= place(version)
}

// releaseOf returns the release with a version; "" means that of ELASTICSEARCH_VERSION, or
// else the default.
func releaseOf(version string) (release, error) {
	version = cmp.Or(version, os.Getenv(VersionVariable), DefaultVersion)
	var names []string
	for _, r := range releases() {
		if r.version == version {
			return r, nil
		}
		names = append(names, r.version)
	}
	return release{}, fmt.Errorf("no Elasticsearch %q runs here: set %s to one of %s", version, VersionVariable, strings.Join(names, ", "))
}

// artifact returns the zip file of the server.
func (r release) artifact() artifact {
	return artifact{
		group: "org.elasticsearch.distribution.integ-test-zip", name: "elasticsearch",
		version: r.version, extension: "zip", sum: r.sum, size: "100 MB",
	}
}

// claimFor notes in a home which release uses its data, and fails if that cannot read it.
func (h home) claimFor(r release) error {
	file := filepath.Join(h.dir, "version")
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("find the version of the data of Elasticsearch: %w", err)
	}
	if used := strings.TrimSpace(string(before)); used != "" && used != r.version && !r.reads(used) {
		return fmt.Errorf("the data in %s is that of Elasticsearch %s, which %s cannot read: set %s=%s, or another %s, or remove it",
			h.dir, used, r.version, VersionVariable, used, HomeVariable)
	}
	if err := writeFile(file, []byte(r.version+"\n")); err != nil {
		return fmt.Errorf("note the version of the data of Elasticsearch: %w", err)
	}
	return nil
}

// numbers returns the numbers of a version, which compare as the versions do.
func numbers(version string) []int {
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}
