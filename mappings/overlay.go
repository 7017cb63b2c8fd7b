package mappings

import (
	"fmt"
	"io/fs"
	"strings"
)

// LoadWith reads the built-in mappings with another content of one file, of a
// name such as cities.json. The error is [Mistakes] when the content is wrong.
func LoadWith(name string, data []byte) (*Set, error) {
	if _, err := fs.Stat(builtin, name); err != nil {
		names, _ := fs.Glob(builtin, "*.json") // the pattern is valid
		return nil, fmt.Errorf("%s is no mapping file; they are %s", name, strings.Join(names, ", "))
	}
	return Load(overlay{builtin, name, data})
}

// overlay is a folder in which one file has another content.
type overlay struct {
	fs.FS
	name string
	data []byte
}

// ReadFile is what fs.ReadFile calls.
func (o overlay) ReadFile(name string) ([]byte, error) {
	if name == o.name {
		return o.data, nil
	}
	return fs.ReadFile(o.FS, name)
}
