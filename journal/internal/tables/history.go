package tables

import (
	"context"
	"database/sql"
	"errors"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// inPast calls f with the history as of one transaction.
func (r *Reader) inPast(ctx context.Context, k report.Key, f func(commit.Past) error) error {
	return r.snapshot(ctx, func(v view) error {
		if err := commit.CheckKey(k); err != nil {
			return err
		}
		return f(v)
	}, "read the history of %s %q in the journal", k.Kind, k.ID)
}

// Current implements commit.Past.
func (v view) Current(k report.Key) (old commit.Replaced, err error) {
	err = v.row(`SELECT version, op, code, accepted_at, `+commit.OldEnded+`, state, crc, `+Length+ofDocument, v.document(k)...).
		Scan((*Int)(&old.Version), (*Text)(&old.Op), (*Text)(&old.Code), (*Int)(&old.At), (*Int)(&old.Ended), (*Int)(&old.State), (*Int)(&old.CRC), &old.Bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return commit.Replaced{}, nil
	}
	old.Form = commit.FormRaw
	return old, err
}

// CurrentBody implements commit.Past.
func (v view) CurrentBody(k report.Key) (body []byte, err error) {
	err = v.row(`SELECT body`+ofDocument, v.document(k)...).Scan((*Bytes)(&body))
	return body, err
}

// Body implements commit.Past.
func (v view) Body(version report.Version) (body []byte, err error) {
	err = v.row(`SELECT old_body FROM history WHERE version = $1`, int64(version)).Scan((*Bytes)(&body))
	return body, err
}

// Before implements commit.Past.
func (v view) Before(k report.Key, version report.Version, limit int) ([]commit.HistoryRow, error) {
	return v.past(`version < $3 ORDER BY version DESC LIMIT $4`, k, version, limit)
}

// After implements commit.Past.
func (v view) After(k report.Key, version report.Version, limit int) ([]commit.HistoryRow, error) {
	return v.past(`version > $3 ORDER BY version LIMIT $4`, k, version, limit)
}

func (v view) past(which string, k report.Key, version report.Version, limit int) ([]commit.HistoryRow, error) {
	return list(v, func(scan func(...any) error) (r commit.HistoryRow, err error) {
		err = scan(PastFields(&r).Targets()...)
		return r, err
	}, `SELECT `+PastFields(&commit.HistoryRow{}).List("@")+` FROM history WHERE kind = $1 AND id = $2 AND `+which, append(v.document(k), int64(version), max(limit, 0))...)
}
