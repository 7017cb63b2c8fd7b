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
