package report

// Difference is what is wrong with a document in the index.
type Difference string

// The differences.
const (
	// Missing: the journal has the document, and the index should.
	Missing Difference = "missing"
	// Stale: the index has an older version, or a version of a deleted document.
	Stale Difference = "stale"
	// Foreign: the index has something that this journal never sent: an unknown document, or a
	// version newer than the newest.
	Foreign Difference = "foreign"
)

// VerifyFinding is one document that differs.
type VerifyFinding struct {
	Kind           Kind       `json:"kind"`
	ID             ID         `json:"id"`
	Problem        Difference `json:"problem"`
	IndexVersion   Version    `json:"index_version"`   // 0 if the index does not have it
	JournalVersion Version    `json:"journal_version"` // 0 if the journal does not know it
	Deleted        bool       `json:"deleted"`         // according to the journal

	// Repaired is set if the index was found to be right after a repair. Otherwise the repair may
	// still be under way, see VerifyReport.Ordered.
	Repaired bool `json:"repaired"`
}

// Key returns the key of the document.
func (f VerifyFinding) Key() Key { return Key{Kind: f.Kind, ID: f.ID} }

// VerifyProgress is the progress of the verification of a kind.
type VerifyProgress struct {
	Kind  Kind   `json:"kind"`
	Phase string `json:"phase"`
	Done  int    `json:"done"`  // documents compared in this phase
	Total int    `json:"total"` // of this phase; 0 if unknown
	Found int    `json:"found"` // findings so far
}

// VerifyReport is the result of verifying a kind.
type VerifyReport struct {
	Kind      Kind   `json:"kind"`
	Error     string `json:"error,omitempty"` // why not all of it was compared
	Documents int    `json:"documents"`       // known to the journal: live and deleted ones
	Live      int    `json:"live"`
	Deleted   int    `json:"deleted"`
	Refused   int    `json:"refused"`   // live ones that Elasticsearch refuses: the index has an older version, or none
	Indexed   int    `json:"indexed"`   // in the index
	UnderWay  int    `json:"under_way"` // not judged, because they were changing or waiting to be sent
	Missing   int    `json:"missing"`
	Stale     int    `json:"stale"`
	Foreign   int    `json:"foreign"`
	Ordered   int    `json:"ordered"`  // findings for which a repair was ordered
	Repaired  int    `json:"repaired"` // of these, found to be right afterwards

	// Kept is how many foreign documents a repair left alone, because they may come from another
	// journal and be newer than what this one has.
	Kept int `json:"kept"`

	// Advice says what an operator should know before doing anything about foreign documents. It
	// is empty if there is nothing to say.
	Advice string `json:"advice,omitempty"`
}

// Found returns how many documents differ.
func (r VerifyReport) Found() int { return r.Missing + r.Stale + r.Foreign }

// Wrong returns how many of the documents found were not found to be right after a repair.
func (r VerifyReport) Wrong() int { return r.Found() - r.Repaired }
