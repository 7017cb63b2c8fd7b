package report

// BackupProgress is the progress of a copy of the journal.
type BackupProgress struct {
	Checking bool  `json:"checking"` // the copy was made, and is being checked
	Done     int64 `json:"done"`     // bytes while copying, records while checking
	Total    int64 `json:"total"`
}

// BackupReport describes a finished copy. One with damage has all that could be read.
type BackupReport struct {
	Bytes   int64 `json:"bytes"`   // size of the copy
	Records int64 `json:"records"` // documents, including tombstones

	// Damaged counts the damaged records. They are damaged in the journal, too, which never
	// gives them out. Named has the first of them.
	Damaged int64 `json:"damaged"`
	Named   []Key `json:"damaged_records,omitempty"`

	// Problem is what SQLite reports about damaged pages of the copy; empty if there are none.
	Problem string `json:"problem,omitempty"`
}
