package commit

import "riskdex/report"

// Content is the change that a record holds, with its body. It is right for as long
// as the document has that version.
type Content struct {
	report.Change
	Intact bool // its checksum fits

	// Unreadable is not nil when SQLite could not follow its pages. The writer must
	// not try: it would make the transaction fail, for everyone. So the document is
	// left alone.
	Unreadable error
}
