package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

const contentQuery = `SELECT kind, id, version, op, code, accepted_at, crc, body FROM documents WHERE kind = ?1 AND id = ?2`

// contents returns the content of the first of stamps that are the newest version of
// their document, up to the bounds of one request to the writer, and the other stamps.
func (j *Journal) contents(ctx context.Context, stamps []report.Stamp) (list []commit.Content, rest []report.Stamp, err error) {
	err = j.read(func(e *engine) error {
		stmt, err := e.readers.PrepareContext(ctx, contentQuery)
		if err != nil {
			return err
		}
		defer stmt.Close()
		size := 0
		for i, s := range stamps {
			if len(list) == commit.MaxBatch || size > commit.MaxGroupBytes {
				rest = stamps[i:]
				return nil
			}
			c, err := readContent(ctx, stmt, s.Key)
			if err != nil {
				return err
			}
			if c.Unreadable != nil {
				j.opt.Log.Error("the journal cannot read a document; restore a backup",
					"kind", s.Kind, "id", s.ID, "version", s.Version, "error", c.Unreadable)
			} else if c.Version == s.Version {
				list = append(list, c)
				size += len(c.Body)
			}
		}
		return nil
	})
	return list, rest, err
}

// readContent returns what there is of a document; the version is 0 when there is
// nothing.
func readContent(ctx context.Context, stmt *sql.Stmt, k report.Key) (commit.Content, error) {
	var kind, id, op, code looseText
	var version, accepted, crc looseInt
	var body []byte
	err := stmt.QueryRowContext(ctx, string(k.Kind), string(k.ID)).Scan(&kind, &id, &version, &op, &code, &accepted, &crc, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return commit.Content{}, nil
	case isCorrupt(err):
		return commit.Content{Unreadable: err}, nil
	case err != nil:
		return commit.Content{}, fmt.Errorf("read %s %q: %w", k.Kind, k.ID, err)
	}
	c := commit.Content{Change: report.Change{
		Key: report.Key{Kind: report.Kind(kind), ID: report.ID(id)}, Op: report.Op(op), Code: string(code),
		Version: report.Version(version), AcceptedAt: time.UnixMicro(int64(accepted)).UTC(), Body: body,
	}}
	c.Intact = c.Key == k && commit.Checksum(c.Change) == uint32(crc)
	c.Key = k
	return c, nil
}
