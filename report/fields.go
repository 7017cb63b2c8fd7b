package report

// Fields is how many documents of a kind searches find, and how many of them have each field.
type Fields struct {
	Documents int
	Fields    []FieldCount
}

// FieldCount is how many documents have a field.
type FieldCount struct {
	Field     string `json:"field"`
	Documents int    `json:"documents"`
	Expected  int    `json:"expected_percent,omitempty"` // of the documents should have it, at least; 0 if they need not
	Missing   bool   `json:"missing,omitempty"`          // fewer than that have it
}

// fewestDocuments is of how many documents something can be expected: one report may well lack a field.
const fewestDocuments = 5

// Judge says which fields fewer documents have than should.
func (f *Fields) Judge() {
	for i, c := range f.Fields {
		f.Fields[i].Missing = f.Documents >= fewestDocuments && 100*c.Documents < c.Expected*f.Documents
	}
}
