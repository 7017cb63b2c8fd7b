package commit

import (
	"errors"

	"riskdex/report"
)

// Fault is what an error of the database says about its cause.
type Fault int

const (
	FaultRequest Fault = iota // one request cannot be carried out; the others can
	FaultPassing              // no room, or another process has it: nothing is wrong with the database
	FaultEngine               // the connection, the file or the disk cannot be trusted
)

// IsRequestError reports whether an error says why one request cannot be carried out. It comes
// from the rules, and so says nothing of the database.
func IsRequestError(err error) bool {
	return errors.Is(err, report.ErrNotFound) || errors.Is(err, report.ErrNoRoom) || errors.Is(err, report.ErrAmbiguous) ||
		errors.Is(err, report.ErrPlaceForgotten) || errors.Is(err, report.ErrLossOpen)
}
