// Package exportline has the format of an export and of the feed of changes: a line of JSON for
// each document, with its kind, its id and its record.
package exportline

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// Append appends the line of a record, with a line break at its end. Line breaks within the record,
// which mean nothing in JSON, become spaces; its other bytes stay as they are. The line of a city
// that has a code states it, since the record may not.
func Append(dst []byte, r report.Record) []byte {
	return appendRecord(appendNames(dst, r), r)
}

// AppendVersion is Append with the version of the document, its identity and when it was delivered. It has a
// line, too, for a document without a record, which says why in place of it: it is deleted, or
// its record is lost.
func AppendVersion(dst []byte, r report.Record) []byte {
	dst = append(appendNames(dst, r), `,"version":`...)
	dst = strconv.AppendInt(dst, int64(r.Version), 10)
	dst = r.AcceptedAt.UTC().AppendFormat(append(dst, `,"accepted_at":"`...), time.RFC3339Nano)
	dst = append(dst, '"')
	if r.Identity != nil {
		identity, _ := json.Marshal(r.Identity)
		dst = append(append(dst, `,"identity":`...), identity...)
	}
	if r.Lost != report.NotLost {
		return append(dst, `,"lost":"`+string(r.Lost)+`"}`+"\n"...)
	}
	if r.Op == report.Delete {
		return append(dst, `,"deleted":true}`+"\n"...)
	}
	return appendRecord(dst, r)
}

func appendNames(dst []byte, r report.Record) []byte {
	dst = append(dst, `{"kind":"`+string(r.Kind)+`","id":`...)
	dst, _ = jsontext.AppendQuote(dst, r.ID) // ids are valid UTF-8
	if r.HasCode {
		dst = append(dst, `,"code":`...)
		dst, _ = jsontext.AppendQuote(dst, r.Code)
	}
	return dst
}

func appendRecord(dst []byte, r report.Record) []byte {
	dst = append(dst, `,"record":`...)
	start := len(dst)
	dst = append(dst, r.Body...)
	for i, c := range dst[start:] {
		if c == '\n' || c == '\r' {
			dst[start+i] = ' '
		}
	}
	return append(dst, '}', '\n')
}

// Line is a line of an export.
type Line struct {
	report.Key
	Code   string // of a city; empty if it has none
	Record []byte

	// Of a line with the version of its document. Record is nil if it is Deleted, or Lost says why.
	Version    report.Version
	AcceptedAt time.Time
	Identity   *report.Identity
	Deleted    bool
	Lost       report.Lost
}

// Parse parses a line, with or without its line break, of a document that has a record. The error
// says what is wrong with it.
func Parse(line []byte) (Line, error) {
	l, err := ParseVersion(line)
	if err == nil && l.Record == nil {
		return Line{}, errNoRecord
	}
	return l, err
}

var errNoRecord = errors.New("it has no record")

// ParseVersion is Parse for any document, also one without a record.
func ParseVersion(line []byte) (Line, error) {
	var l struct {
		Kind       string
		ID         *string
		Code       string
		Record     json.RawMessage
		Version    report.Version
		AcceptedAt time.Time `json:"accepted_at"`
		Identity   *report.Identity
		Deleted    bool
		Lost       report.Lost
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return Line{}, fmt.Errorf("it is not a JSON object of an export: %w", err)
	}
	kind, err := report.ParseKind(l.Kind)
	switch {
	case err != nil:
		return Line{}, err
	case l.ID == nil:
		return Line{}, errors.New("it has no id")
	case l.Record == nil && l.Lost == report.NotLost && !l.Deleted:
		return Line{}, errNoRecord
	}
	id, err := report.ParseID(*l.ID)
	return Line{report.Key{Kind: kind, ID: id}, l.Code, l.Record, l.Version, l.AcceptedAt, l.Identity, l.Deleted, l.Lost}, err
}
