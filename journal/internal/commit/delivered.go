package commit

import "riskdex/report"

// ReplacedDocument returns a document of a delivery that was replaced: the version and the time of what
// replaced it, and the state in which that found it.
func ReplacedDocument(key report.Key, given report.Version, op report.Op, by report.Version, at, state, ended int64) report.Delivered {
	d := report.Delivered{Key: key, Given: given, Version: given, Op: op, Replaced: true, ReplacedBy: by}
	if by != 0 {
		d.State, d.ReplacedAt = StateName(state), FromMicro(at)
	}
	d.SearchableAt = fromMicro(reachedAt(state, ended))
	return d
}
