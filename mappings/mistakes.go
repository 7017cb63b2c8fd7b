package mappings

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Mistake is one thing that is wrong in a mapping file.
type Mistake struct {
	File   string // such as cities.json
	Line   int    // from 1; 0 if it is about the file as a whole
	Reason string // for people
}

// Error names the file, the line if there is one, and the reason.
func (m Mistake) Error() string {
	if m.Line == 0 {
		return fmt.Sprintf("mapping file %s: %s", m.File, m.Reason)
	}
	return fmt.Sprintf("mapping file %s: line %d: %s", m.File, m.Line, m.Reason)
}

// Mistakes are what is wrong in mapping files, in the order of the files and of their
// lines. The text of the error has a line for each.
type Mistakes []Mistake

func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].Error()
	}
	return strings.Join(lines, "\n")
}

// add adds a mistake about the value that at leads to in data.
func (m *Mistakes) add(data []byte, at jsontext.Pointer, format string, args ...any) {
	*m = append(*m, Mistake{Line: lineOf(data, at), Reason: fmt.Sprintf(format, args...)})
}

// lineOf returns the line of a member or an element, or 0 if there is none.
func lineOf(data []byte, at jsontext.Pointer) int {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.ReadToken(); err != nil {
			return 0
		}
		if d.StackPointer() == at {
			return lineAt(data, d.InputOffset())
		}
	}
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}
