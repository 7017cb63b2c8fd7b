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

// watermark is the acknowledged watermark: a file beside the journal whose first line is the
// last version that was acknowledged. It is written after the journal is durable, and never
// synced, so the journal is never behind it, unless it has lost what it had acknowledged:
// its WAL was damaged, which SQLite cannot tell from one that was cut short, or an older
// copy was put in its place.
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

// withSum ends a line with its checksum. A line whose checksum does not fit says nothing.
func withSum(text string) string {
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

func watermarkText(v report.Version) string { return withSum(fmt.Sprintf("%020d", int64(v))) }

func walText(b boundWAL) string { return withSum(fmt.Sprintf("%-26s %020d", b.file, int64(b.base))) }

// watermarkWidth is how long the first line is, and where the second begins.
var watermarkWidth = len(watermarkText(0))

func (w *watermark) line(at int, like string) string {
	text := make([]byte, len(like))
	n, _ := w.file.ReadAt(text, int64(at))
	return string(text[:n])
}

// read returns the last version noted, 0 if there is none or it cannot be read: a
// damaged watermark says nothing.
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

// wal returns the zero boundWAL where that is not known.
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

// compareWatermark says so when changes that were acknowledged are not there, and notes it in
// the journal. What is there goes on: it is better than nothing, and the publisher can
// deliver the rest. Nothing of this may wait for a delivery, which would take a version
// above those that are missing, so that nobody would notice them any more.
func (j *Journal) compareWatermark(ctx context.Context, withoutWAL bool) error {
	l := &j.ledger
	found := whatIsLost(j.watermark.read(), l.LastVersion, withoutWAL, j.opt.Now())
	if found.Until == 0 {
		if l.Loss.Until > 0 {
			j.opt.Log.Warn("the journal still lacks changes that it had acknowledged "+l.Loss.Report().Span()+
				"; have the publisher deliver them again, then: riskdex journal acknowledge-loss", "path", j.path)
		}
		return nil
	}
	j.opt.Log.Error("the journal lacks changes that it had acknowledged "+found.Report().Span()+": it is damaged, or an older copy of it; "+
		"have the publisher deliver again what it sent in that time, then: riskdex journal acknowledge-loss", "path", j.path)
	// Versions must not be given out twice, whatever the clock says.
	l.Loss, l.LastVersion = l.Loss.Join(found), found.Until
	if err := keepLedger(ctx, j.e.write, *l); err != nil {
		return fmt.Errorf("note that changes are missing: %w", err)
	}
	return nil
}

// whatIsLost returns what a journal lacks that has everything up to a version. withoutWAL says
// that the WAL of its file is gone, which matters where nobody noted what was acknowledged:
// it may have had anything up to now.
func whatIsLost(noted, has report.Version, withoutWAL bool, now time.Time) commit.Loss {
	if noted == 0 && withoutWAL {
		noted = report.Version(now.UnixMicro())
	}
	if noted <= has {
		return commit.Loss{}
	}
	return commit.Loss{Since: has, Until: noted, NoticedAt: now.UnixMicro()}
}

// keepLedger writes the last version, and what is lost.
func keepLedger(ctx context.Context, conn *sql.Conn, l commit.Ledger) error {
	_, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE; UPDATE meta SET value = ?1 WHERE name = 'last_version';
		UPDATE ids SET value = ?5 WHERE name = 'feed';
		INSERT OR REPLACE INTO loss SELECT 1, ?2, ?3, ?4 WHERE ?3 > 0; COMMIT`, int64(l.LastVersion), int64(l.Loss.Since), int64(l.Loss.Until), l.Loss.NoticedAt, newFileID())
	if err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // SQLite may have done so itself
	}
	return err
}

// noteWatermark notes what is acknowledged from now on. A disk that cannot take it
// shows in the journal itself.
func (j *Journal) noteWatermark(last report.Version) {
	if err := j.watermark.note(last); err != nil && !errors.Is(err, os.ErrClosed) {
		j.opt.Log.Debug("cannot note the last version", "path", j.path+watermarkSuffix, "error", err)
	}
}
