package report

// Record is the newest record of a document that is not deleted.
type Record struct {
	Change // its Body is nil where Lost says why

	// HasCode is set if a city answers to its Code. Another city may state it by now.
	HasCode bool

	Lost Lost
}

// Lost says why a document has no record.
type Lost string

// The reasons for which a document has no record.
const (
	NotLost     Lost = ""
	LostDamaged Lost = "damaged" // its checksum is wrong
	LostDropped Lost = "dropped" // it was a dead letter that somebody dropped
)
