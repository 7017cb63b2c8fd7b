package journal

// Inspection is what can be found out about a journal without opening it for use.
type Inspection struct {
	Exists bool
	InUse  bool   // by a riskdex
	Empty  bool   // it has no document but the probe's
	Line   string // empty where it is not known
	Bytes  int64  // on disk, with the write-ahead log

	// Unfinished is set where the riskdex that had the file last did not close it: what is
	// in the write-ahead log is then left out here.
	Unfinished bool

	// Folder is where the file is, or would be made: the nearest folder that exists. Free is
	// how many bytes its disk has left, -1 where that is unknown, and FileSystem the name of
	// its kind, where that is known.
	Folder     string
	Free       int64
	FileSystem string

	Server string // of PostgreSQL: its version
}
