package postgres

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"riskdex/journal/internal/commit"
)

// code returns the SQLSTATE of an error of the server, or nothing. The codes are those of
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// classify returns the fault behind the error of a transaction. An unknown error counts as
// passing, so that the transaction is tried again.
func classify(err error) commit.Fault {
	if commit.IsRequestError(err) {
		return commit.FaultRequest
	}
	c := code(err)
	if len(c) < 2 {
		return commit.FaultPassing
	}
	switch c[:2] {
	case "22", "23", "54": // data, constraints, limits of the server
		return commit.FaultRequest
	}
	return commit.FaultPassing
}

// errSyncOff says why nothing is acknowledged.
var errSyncOff = errors.New("synchronous_commit is off: what is acknowledged could be lost with a power cut; set it to on for this database: ALTER DATABASE … SET synchronous_commit = on")

// warning is the name under which a connection keeps the last warning of the server.
const warning = "warning"

func keepWarning(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warning] = n.Message
	}
}

const deadlock = "40P01"

// inTheWay reports whether a transaction failed only because of a concurrent one of another
// process.
func inTheWay(err error) bool {
	if errors.Is(err, commit.ErrMeanwhile) {
		return true
	}
	switch code(err) {
	case "40001", deadlock, "55P03", "23505": // serialization, deadlock, a row that is locked, or that both made
		return true
	}
	return false
}

func isDiskFull(err error) bool { return strings.HasPrefix(code(err), "53100") }
