package journal

// Inspection describes a journal that was not opened for use.
type Inspection struct {
	Exists   bool
	InUse    bool   // by a riskdex
	Empty    bool   // no document but the probe
	Line     string // see Journal.Lineage; empty if unknown
	Followed string // its note about the riskdex that it follows ([report.FollowedNote]), or empty
	Bytes    int64  // on disk, including the write-ahead log

	// Unfinished is set if the riskdex that used the file last did not close it. The rest of
	// the Inspection then ignores the write-ahead log.
	Unfinished bool

	// Folder is where the file is or would be created. Free is the free space on its disk in
	// bytes, -1 if unknown. FileSystem is the type of its file system, empty if unknown.
	Folder     string
	Free       int64
	FileSystem string

	Server string // version of PostgreSQL; empty for a file
}
