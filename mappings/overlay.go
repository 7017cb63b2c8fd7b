package mappings

import (
	"fmt"
	"io/fs"
	"strings"
)

// LoadWith reads the built-in mappings with data in place of the file called name, such as
// cities.json. If data is wrong, the error is [Mistakes].
func LoadWith(name string, data []byte) (*Set, error) {
	if _, err := fs.Stat(builtin, name); err != nil {
		names, _ := fs.Glob(builtin, "*.json") // the pattern is valid
		return nil, fmt.Errorf("%s is not a mapping file; these are: %s", name, strings.Join(names, ", "))
	}
	return Load(overlay{builtin, name, data})
}

// overlay is a folder with other content in one of its files.
type overlay struct {
	fs.FS
	name string
	data []byte
}

// ReadFile implements fs.ReadFileFS, which fs.ReadFile uses.
func (o overlay) ReadFile(name string) ([]byte, error) {
	if name == o.name {
		return o.data, nil
	}
	return fs.ReadFile(o.FS, name)
}
