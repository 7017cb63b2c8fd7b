package report

import "time"

// Document is what the journal has of one document, and how a name led to it.
type Document struct {
	By     NamedBy
	Cities []ID // those that state the code if By is NamedAmbiguous: the first of them

	// The rest is zero unless By names a document. Record is its newest change, which may be
	// a delete.
	Record
	State        State
	WaitingSince time.Time // of a pending one
	EndedAt      time.Time // when it was settled or set aside; zero for a pending one
	ErrorType    string    // of a dead letter
	Reason       string    // of a dead letter
}

// NamedBy is the rule by which a name leads to a document, as it would in the path of a delivery.
type NamedBy string

// The rules.
const (
	NamedByID          NamedBy = "id"
	NamedByDeletedID   NamedBy = "deleted_id"   // the document is deleted, and no live city has stated it as its code since
	NamedByCode        NamedBy = "code"         // one live city has this code
	NamedByDeletedCode NamedBy = "deleted_code" // no live city has this code, and one that is deleted had it
	NamedAmbiguous     NamedBy = "ambiguous"    // several live cities have this code
	NamedNothing       NamedBy = "nothing"
)

// Known reports whether the name leads to a document.
func (n NamedBy) Known() bool { return n != NamedAmbiguous && n != NamedNothing }
