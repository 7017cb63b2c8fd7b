package receiver

import (
	"log/slog"
	"strings"
	"time"

	"riskdex/report"
)

// recurringLogEvery is the least time between log lines about a mistake that a publisher
// makes with every delivery.
const recurringLogEvery = time.Minute

// ownID returns the id that a record states; "" where it states none that is valid. A code is
// none: it names a city only where there is no id.
func (s *splitter) ownID(r record) report.ID {
	text, at := s.statedID(r.members)
	if at == "" {
		text = s.likelyID(r)
	}
	id, err := report.ParseID(text)
	if err != nil {
		return ""
	}
	return id
}

// noteMismatch counts and logs a PUT that was applied to the document in its path though its
// record states another id. Where the path is not a known id, the journal uses the record's, so
// only the stamp tells. A city's code in place of its id is not a mismatch.
func (r *Receiver) noteMismatch(d *delivery, in contents, stamps []report.Stamp) {
	if in.ownID == "" || len(stamps) != 1 || stamps[0].Version == 0 || stamps[0].ID == in.ownID ||
		strings.EqualFold(string(in.ownID), in.changes[0].Code) {
		return
	}
	r.metrics.mismatches.WithLabelValues(string(d.kind)).Inc()
	r.logLimited(&r.recurring, d, slog.LevelWarn, "the record of a PUT states another id than that of the document in its path: it is taken for the one in the path",
		"path", shortened(d.req.URL.Path), "id", shortened(string(stamps[0].ID)), "stated", shortened(string(in.ownID)))
}
