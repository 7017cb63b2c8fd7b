package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"riskdex/report"
)

// Reading is how the records of a kind are read now, as some of them show it.
type Reading struct {
	Kind    report.Kind `json:"kind"`
	Records int         `json:"records"` // that were looked at
	Stated  []string    `json:"stated"`  // fields about which the operator's files decide
	Shapes  []ReadShape `json:"shapes"`  // those with most records come first
}

// ReadShape is how the records of one shape are read, or those of none.
type ReadShape struct {
	Records  int            `json:"records"`            // that were looked at
	Inferred int            `json:"inferred,omitempty"` // of so many records the values have told how they are read; 0 if they have not
	Fields   []ReadField    `json:"fields"`
	Unknown  []string       `json:"unknown_levels"` // values of the risk level whose level is not known, the most frequent first
	Lacking  []LackingField `json:"lacking"`        // fields that no record has, or fewer than should
}

// ReadField is a place in the records that a field is taken from.
type ReadField struct {
	Field    string            `json:"field"`
	Pointer  string            `json:"pointer"`
	Records  int               `json:"records"` // with a value there that fits
	Examples []json.RawMessage `json:"examples"`
	Because  string            `json:"because"`           // what tells that the field is there
	Misfits  int               `json:"misfits,omitempty"` // values there that do not fit
	Misfit   json.RawMessage   `json:"misfit,omitempty"`  // one of them
	Reason   string            `json:"reason,omitempty"`  // why it does not
}

// LackingField is a field that no record has, or fewer than should.
type LackingField struct {
	Field      string      `json:"field"`
	Records    int         `json:"records"` // that have it
	Expected   bool        `json:"expected"`
	Candidates []Candidate `json:"candidates"` // where it may be
}

// Candidate is a place in the records where a field may be.
type Candidate struct {
	At       json.RawMessage `json:"at"` // as a mapping file has it
	Records  int             `json:"records"`
	Examples []string        `json:"examples"`
	Because  string          `json:"because"` // what speaks for it
}

// Reader says how records of a kind are read.
type Reader interface {
	Reading(kind report.Kind, records [][]byte) (Reading, error)
}

// The records that a reading looks at.
const (
	readingRecords = 200
	readingBytes   = 4 << 20
)

// readings answers how records are read. It looks at some each time, one call after another, since that
// takes a while.
type readings struct {
	journal Records
	reader  Reader
}

func (r *readings) calls() []call {
	return []call{{http.MethodGet, "/api/reading", "kind", func(in *request) (any, error) {
		kind, err := in.kind()
		if err != nil {
			return nil, err
		}
		records, err := r.sample(in.Context(), kind)
		if err != nil {
			return nil, err
		}
		return r.reader.Reading(kind, records)
	}}}
}

// sample returns some records of a kind.
func (r *readings) sample(ctx context.Context, kind report.Kind) (records [][]byte, err error) {
	size := 0
	for record, err := range r.journal.Records(ctx, kind) {
		if err != nil {
			return nil, err
		}
		if record.Lost != report.NotLost || len(record.Body) > readingBytes {
			continue
		}
		size += len(record.Body)
		if size > readingBytes || len(records) == readingRecords {
			break
		}
		records = append(records, bytes.Clone(record.Body))
	}
	return records, nil
}
