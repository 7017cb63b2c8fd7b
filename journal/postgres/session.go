package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// sessionName is the setting of PostgreSQL that has the name of the connection which began the
// session, and under which a connection keeps it.
const sessionName = "riskdex.session"

// readSessionName is an expression that is empty in a session that no connection of ours began.
const readSessionName = "coalesce(current_setting('" + sessionName + "', true), '')"

// errSharedSession says why nothing is read or written.
var errSharedSession = errors.New("a pooler between shares sessions of PostgreSQL among connections, so locks and settings are not theirs;" +
	" connect to PostgreSQL itself, or use pool_mode = session in PgBouncer")

// beginSession applies settings to a new connection. They are no parameters of its start, of which
// a pooler takes only some.
func beginSession(ctx context.Context, conn *pgconn.PgConn, settings map[string]string) error {
	name := rand.Text()
	conn.CustomData()[sessionName] = name
	// The first statement may have a timeout that the role or the database is given.
	var statement strings.Builder
	fmt.Fprintf(&statement, "SET statement_timeout = 0; SELECT set_config('%s', '%s', false)", sessionName, name)
	for key, value := range settings {
		k, err := conn.EscapeString(key)
		if err != nil {
			return err
		}
		v, err := conn.EscapeString(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(&statement, ", set_config('%s', '%s', false)", k, v)
	}
	_, err := conn.Exec(ctx, statement.String()).ReadAll()
	return err
}

// ownSession returns an error unless the session that has this name is that of a connection.
func ownSession(conn *pgx.Conn, name string) error {
	if own, _ := conn.PgConn().CustomData()[sessionName].(string); own != name {
		return errSharedSession
	}
	return nil
}

// checkSessions returns an error if one of two connections does not keep its session while the
// other is in a transaction.
func checkSessions(ctx context.Context, one, other *pgx.Conn) error {
	const begin, read = "BEGIN", "SELECT " + readSessionName
	if _, err := other.PgConn().Exec(ctx, begin).ReadAll(); err != nil {
		return fmt.Errorf("%w: %w", errSharedSession, err)
	}
	results, err := one.PgConn().Exec(ctx, read).ReadAll() // prepared statements are of a session, too
	if err == nil {
		err = ownSession(one, string(results[0].Rows[0][0]))
	}
	_, end := other.PgConn().Exec(ctx, "ROLLBACK").ReadAll()
	return errors.Join(err, end)
}
