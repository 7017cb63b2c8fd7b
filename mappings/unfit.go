package mappings

import "riskdex/report"

// Unfit returns the fields that AppendDocument may report for a record of kind, in the
// order of the document: those with a pattern in the mapping file, `text` and `source`.
func (s *Set) Unfit(kind report.Kind) []string {
	by := s.shapes(kind)
	if by == nil {
		return nil
	}
	m := by.stated
	from := &m.Fields
	var fields []string
	for _, f := range []struct {
		name   string
		places int
	}{
		{"code", len(from.Code)}, {"title", len(from.Title)}, {"names", len(from.Names)}, {"country", len(from.Country)},
		{"risk_label", len(from.RiskLabel)}, {"risk_level", len(from.RiskLevel)}, {"airports", len(from.Airports)},
		{"places", len(m.Places.Each)}, {"location", len(from.Location)}, {"summary", len(from.Summary)},
		{"starts_at", len(from.StartsAt)}, {"ends_at", len(from.EndsAt)},
		{"published_at", len(from.PublishedAt)}, {"updated_at", len(from.UpdatedAt)},
		{"text", 1}, {"source", 1},
	} {
		if f.places > 0 {
			fields = append(fields, f.name)
		}
	}
	return fields
}
