package journal

import (
	"database/sql"
	"errors"
	"fmt"

	"riskdex/report"
)

// beforeAll is the origin of what does not come from the publisher: all that does is
// newer.
const beforeAll report.Version = 1

// origin returns the version under which the publisher delivered what a row holds.
// It is older than the row's own where that was renewed, or retried: what was
// delivered or refused in between is newer all the same.
func (tx *transaction) origin(r *row) (report.Version, error) {
	var origin int64
	err := tx.st.origin.QueryRowContext(tx.ctx, r.doc, int64(r.version)).Scan(&origin)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r.version, nil
	case err != nil:
		return 0, fmt.Errorf("look up since when %q is as it is: %w", r.id, err)
	}
	return report.Version(origin), nil
}

// keepOrigin notes the origin of the version that a document has now. The next
// version has none until it is noted for that one.
func (tx *transaction) keepOrigin(k report.Key, origin report.Version) error {
	_, err := tx.st.keepOrigin.ExecContext(tx.ctx, string(k.Kind), string(k.ID), int64(origin))
	if err != nil {
		return fmt.Errorf("note since when %s %q is as it is: %w", k.Kind, k.ID, err)
	}
	return nil
}
