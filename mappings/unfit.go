package mappings

import "riskdex/report"

// Unfit returns the fields that AppendDocument may report for a record of kind, in the
// order of the document: those with a pattern in the mapping file, `text` and `source`.
func (s *Set) Unfit(kind report.Kind) []string {
	by := s.shapes(kind)
	if by == nil {
		return nil
	}
	var fields []string
	for _, l := range by.stated.lists() {
		if len(*l.from) > 0 && l.name != "threats" {
			fields = append(fields, l.name)
		}
	}
	return append(fields, "text", "source")
}
