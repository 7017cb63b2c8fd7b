package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"riskdex/report"
)

// content is the change that a record holds, with its body. It is right for as long
// as the document has that version.
type content struct {
	report.Change
	intact bool // its checksum fits

	// unreadable is not nil when SQLite could not follow its pages. The writer must
	// not try: it would make the transaction fail, for everyone. So the document is
	// left alone.
	unreadable error
}

const contentQuery = `SELECT kind, id, version, op, code, accepted_at, crc, body FROM documents WHERE kind = ?1 AND id = ?2`

// contents returns the content of the first of stamps that are the newest version of
// their document, up to the bounds of one request to the writer, and the other stamps.
func (j *SQLite) contents(ctx context.Context, stamps []report.Stamp) (list []content, rest []report.Stamp, err error) {
	err = j.read(func(e *engine) error {
		stmt, err := e.readers.PrepareContext(ctx, contentQuery)
		if err != nil {
			return err
		}
		defer stmt.Close()
		size := 0
		for i, s := range stamps {
			if len(list) == batch || size > maxGroupBytes {
				rest = stamps[i:]
				return nil
			}
			c, err := readContent(ctx, stmt, s.Key)
			if err != nil {
				return err
			}
			if c.unreadable != nil {
				j.opt.Log.Error("the journal cannot read a document; restore a backup",
					"kind", s.Kind, "id", s.ID, "version", s.Version, "error", c.unreadable)
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
func readContent(ctx context.Context, stmt *sql.Stmt, k report.Key) (content, error) {
	var kind, id, op, code looseText
	var version, accepted, crc looseInt
	var body []byte
	err := stmt.QueryRowContext(ctx, string(k.Kind), string(k.ID)).Scan(&kind, &id, &version, &op, &code, &accepted, &crc, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return content{}, nil
	case isCorrupt(err):
		return content{unreadable: err}, nil
	case err != nil:
		return content{}, fmt.Errorf("read %s %q: %w", k.Kind, k.ID, err)
	}
	c := content{Change: report.Change{
		Key: report.Key{Kind: report.Kind(kind), ID: report.ID(id)}, Op: report.Op(op), Code: string(code),
		Version: report.Version(version), AcceptedAt: time.UnixMicro(int64(accepted)).UTC(), Body: body,
	}}
	c.intact = c.Key == k && checksum(c.Change) == uint32(crc)
	c.Key = k
	return c, nil
}
