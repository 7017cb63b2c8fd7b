package commit

import (
	"encoding/binary"
	"hash/crc32"

	"riskdex/report"
)

// RecordOf returns the record c in a row of which State, Origin and Naming are known; intact says whether
// its checksum fits.
func RecordOf(c report.Change, row Row, intact bool) report.Record {
	row.Version, row.Code = c.Version, c.Code
	c.Identity = &report.Identity{Place: row.place(), Naming: row.Naming}
	r := report.Record{Change: c, HasCode: row.HasCode()}
	switch {
	case !intact:
		r.Lost = report.LostDamaged
	case row.State == StateDropped:
		r.Lost = report.LostDropped
	}
	if r.Lost != report.NotLost {
		r.Body = nil
	}
	return r
}

// Describe completes d with the row of its document. Times are in microseconds.
func Describe(d *report.Document, r report.Record, state, waiting, ended int64, errorType, reason string) {
	d.Record, d.State = r, StateName(state)
	switch d.State {
	case report.StatePending:
		d.WaitingSince = FromMicro(waiting)
	case report.StateDead:
		d.ErrorType, d.Reason = errorType, reason
		fallthrough
	default:
		d.EndedAt = FromMicro(ended)
	}
}

// Content is the change that a record holds, with its body. It is right for as long
// as the document has that version.
type Content struct {
	report.Change
	Intact bool // its checksum fits
}

// MaxNamed bounds how many damaged records a report names.
const MaxNamed = 100

// Checksum is the CRC-32C of everything that is stored of a change and given out
// again. Each text is preceded by its length, so that no two records with
// different fields have the same input. The state of a document is no part of
// it: settling leaves the checksum as it is.
func Checksum(c report.Change) uint32 {
	return sum(c.Body, []string{string(c.Kind), string(c.ID), string(c.Op), c.Code},
		int64(c.Version), c.AcceptedAt.UnixMicro())
}

// RefusalChecksum is the same for what a retry of a refusal rests on.
func RefusalChecksum(r report.Refusal) uint32 {
	return sum(r.Body, []string{string(r.Kind), r.Method, r.Path, r.ID}, int64(r.Position), int64(len(r.Body)))
}

func sum(body []byte, texts []string, numbers ...int64) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	head := make([]byte, 0, 128)
	for _, s := range texts {
		head = binary.BigEndian.AppendUint64(head, uint64(len(s)))
		head = append(head, s...)
	}
	for _, n := range numbers {
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	return crc32.Update(crc32.Checksum(head, table), table, body)
}
