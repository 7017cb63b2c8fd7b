package commit

import "riskdex/report"

// RecordOf returns the record in a row; intact says whether its checksum fits.
func RecordOf(c report.Change, state int64, intact bool, kept int64) report.Record {
	r := report.Record{Change: c, HasCode: kept != int64(lostCode) && c.Code != ""}
	switch {
	case !intact:
		r.Lost = report.LostDamaged
	case state == StateDropped:
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
