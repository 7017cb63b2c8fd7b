package samplefeed

import "riskdex/report"

// Document is what can be told about one document of the index from outside.
type Document struct {
	ID    string
	Code  string // of a city, in upper case; otherwise empty
	Title string
	// Mark is an invented word in the text of this edition of this document and nowhere
	// else: a full-text search for it finds the document.
	Mark    string
	Updated bool // an update has replaced the edition that was created
}

// Expected is what the index must hold once every request has been accepted
// and settled.
type Expected struct {
	// Live has exactly the documents that must be there, in the order in which
	// they were created.
	Live map[report.Kind][]Document
	// Gone has the documents that were deleted.
	Gone map[report.Kind][]Document
	// Stale are the marks of replaced and deleted editions: a search for one
	// must find nothing.
	Stale []string
}

func newExpected() Expected {
	return Expected{Live: map[report.Kind][]Document{}, Gone: map[report.Kind][]Document{}}
}

// create records a document that a request creates.
func (e *Expected) create(kind report.Kind, doc document) {
	e.Live[kind] = append(e.Live[kind], Document{ID: doc.id, Code: doc.code, Title: doc.title, Mark: doc.mark})
}

// update records that the document at a position of Live has a new edition.
func (e *Expected) update(kind report.Kind, position int, doc document) {
	live := &e.Live[kind][position]
	e.Stale = append(e.Stale, live.Mark)
	live.Mark, live.Updated = doc.mark, true
}

// remove records that the document at a position of Live is deleted. It moves the documents
// after it, so the last position must be removed first.
func (e *Expected) remove(kind report.Kind, position int) {
	live := e.Live[kind]
	e.Stale = append(e.Stale, live[position].Mark)
	e.Gone[kind] = append(e.Gone[kind], live[position])
	e.Live[kind] = append(live[:position:position], live[position+1:]...)
}
