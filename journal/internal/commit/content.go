package commit

import "riskdex/report"

// Content is the change that a record holds, with its body. It is right for as long
// as the document has that version.
type Content struct {
	report.Change
	Intact bool // its checksum fits
}

// MaxNamed bounds how many damaged records a report names.
const MaxNamed = 100
