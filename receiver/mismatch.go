package receiver

import (
	"log/slog"
	"strings"
	"time"

	"riskdex/report"
)

// seldom is how often the log says what a publisher who does it once does all the time.
const seldom = time.Minute

// ownID returns the id that a record states, where it can be one. A code is none: a city
// goes by that only where it states no id.
func (s *splitter) ownID(r record) report.ID {
	text, stated := first(r.members, s.ids, scalarText)
	if !stated {
		text = s.likelyID(r)
	}
	id, err := report.ParseID(text)
	if err != nil {
		return ""
	}
	return id
}

// noteMismatch says that a PUT was taken for the document in its path though its record
// states the id of another. Where the path is no known id, the journal goes by the
// record, so only its stamp tells. What is stated as the id may be the city's code.
func (r *Receiver) noteMismatch(d *delivery, in contents, stamps []report.Stamp) {
	if in.ownID == "" || len(stamps) != 1 || stamps[0].Version == 0 || stamps[0].ID == in.ownID ||
		strings.EqualFold(string(in.ownID), in.changes[0].Code) {
		return
	}
	r.metrics.mismatches.WithLabelValues(string(d.kind)).Inc()
	r.seldom.log(r, d, slog.LevelWarn, "the record of a PUT states another id than that of the document in its path: it is taken for the one in the path",
		"path", shortened(d.req.URL.Path), "id", shortened(string(stamps[0].ID)), "stated", shortened(string(in.ownID)))
}
