package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// watermark is a file beside the journal whose first line is the last acknowledged version. It
// is written after the journal is durable, and never synced. So a journal that is behind its
// watermark has lost something acknowledged: its WAL was damaged, which SQLite cannot tell from
// a WAL that was cut short, or an older copy replaced the journal.
//
// The second line says which file the WAL beside it belongs to (identity.go).
type watermark struct{ file *os.File }

const watermarkSuffix = ".last"

func openWatermark(path string) (*watermark, error) {
	f, err := os.OpenFile(path+watermarkSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &watermark{f}, nil
}

// withSum appends the checksum to a line. A line with a wrong checksum is ignored.
func withSum(text string) string {
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

func watermarkText(v report.Version) string { return withSum(fmt.Sprintf("%020d", int64(v))) }

func walText(b boundWAL) string { return withSum(fmt.Sprintf("%-26s %020d", b.file, int64(b.base))) }

// watermarkWidth is the length of the first line, and so the offset of the second.
var watermarkWidth = len(watermarkText(0))

func (w *watermark) line(at int, like string) string {
	text := make([]byte, len(like))
	n, _ := w.file.ReadAt(text, int64(at))
	return string(text[:n])
}

// read returns the last version noted; 0 if there is none or the watermark is damaged.
func (w *watermark) read() (v report.Version) {
	text := w.line(0, watermarkText(0))
	if _, err := fmt.Sscanf(text, "%d", &v); err != nil || watermarkText(v) != text {
		return 0
	}
	return v
}

func (w *watermark) note(v report.Version) error {
	_, err := w.file.WriteAt([]byte(watermarkText(v)), 0)
	return err
}

// wal returns the note about the WAL; the zero boundWAL if there is none.
func (w *watermark) wal() (b boundWAL) {
	text := w.line(watermarkWidth, walText(boundWAL{}))
	if len(text) < 47 {
		return boundWAL{}
	}
	b.file = strings.TrimSpace(text[:26])
	if _, err := fmt.Sscanf(text[26:47], "%d", &b.base); err != nil || walText(b) != text {
		return boundWAL{}
	}
	return b
}

func (w *watermark) noteWAL(b boundWAL) error {
	_, err := w.file.WriteAt([]byte(walText(b)), int64(watermarkWidth))
	return err
}

func (w *watermark) close() error { return w.file.Close() }

// compareWatermark notes the loss if acknowledged changes are missing. The journal still opens: the publisher can deliver the rest again. All of this must
// happen before the first delivery, whose version would be above the missing ones and would hide
// the loss for good.
func (j *Journal) compareWatermark(ctx context.Context, withoutWAL bool) error {
	l := &j.ledger
	found := whatIsLost(j.watermark.read(), l.LastVersion, withoutWAL, j.opt.Now())
	defer func() { j.claims.hold(j.ledger.Loss) }()
	if l.Loss.Until > 0 {
		j.opt.Log.Warn("the journal still lacks changes that it had acknowledged "+l.Loss.Join(found).Report().Span()+
			"; ask the publisher to deliver them again, then: riskdex journal acknowledge-loss", "path", j.path)
	}
	if found.Until == 0 {
		return nil
	}
	if err := j.noteLoss(found); err != nil {
		return fmt.Errorf("note that changes are missing: %w", err)
	}
	return nil
}

// noteLoss notes a loss before the first request is carried out.
func (j *Journal) noteLoss(found commit.Loss) error {
	if _, err := j.e.write.exec(begin); err != nil {
		return err
	}
	after := j.ledger.Begin()
	s := newStore(j.e, &after)
	s.now = j.opt.Now()
	tx := commit.NewTransaction(s, s.now, &after)
	err := tx.AddLoss(found)
	if err == nil {
		err = s.finish(j.ledger)
	}
	if err == nil {
		_, err = j.e.write.exec(`COMMIT`)
	}
	if err != nil {
		return j.rollback(err)
	}
	j.ledger = after
	tx.Warn(j.opt.Log.With("path", j.path))
	return nil
}

// whatIsLost returns what is missing from a journal whose last version is `has`, given the last
// noted version. If withoutWAL is set and nothing was noted, anything up to now may be missing
// with the WAL.
func whatIsLost(noted, has report.Version, withoutWAL bool, now time.Time) commit.Loss {
	if noted == 0 && withoutWAL {
		noted = report.Version(now.UnixMicro())
	}
	if noted <= has {
		return commit.Loss{}
	}
	return commit.Loss{Since: has, Until: noted, NoticedAt: now.UnixMicro()}
}

// noteWatermark notes the last version that may be acknowledged from now on. Errors are only
// logged: a failing disk shows in the journal itself.
func (j *Journal) noteWatermark(last report.Version) {
	if err := j.watermark.note(last); err != nil && !errors.Is(err, os.ErrClosed) {
		j.opt.Log.Debug("cannot note the last version", "path", j.path+watermarkSuffix, "error", err)
	}
}

// lost returns the versions of stamps that the journal gave out and does not know.
func (j *Journal) lost(ctx context.Context, given []report.Stamp) (versions []report.Version, err error) {
	err = j.inSnapshot(ctx, func(tx *sql.Tx) error {
		const isLost = "SELECT " + commit.IsLost + " FROM (SELECT $1 AS kind, $2 AS id, $3 AS version) AS given"
		stmt, err := tx.PrepareContext(ctx, isLost)
		if err != nil {
			return err
		}
		defer stmt.Close()
		for _, s := range given {
			var lost bool
			if err := stmt.QueryRowContext(ctx, string(s.Kind), string(s.ID), int64(s.Version)).Scan(&lost); err != nil {
				return fmt.Errorf("look up %s %q: %w", s.Kind, s.ID, err)
			}
			if lost {
				versions = append(versions, s.Version)
			}
		}
		return nil
	})
	return versions, err
}
