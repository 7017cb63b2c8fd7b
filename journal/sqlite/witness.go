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

// witness is a file beside the journal. Its first line has the last version that was
// acknowledged. It is written after the journal is durable and never waits for the
// disk itself, so that the journal is always as far as it, or further. If it is
// not, then it has lost what it had acknowledged: its log was damaged, which
// SQLite cannot tell from one that was cut short, or an older copy was put in its
// place.
//
// Its second line says which file the log beside it belongs to (sqlite_identity.go).
type witness struct{ file *os.File }

const witnessSuffix = ".last"

func openWitness(path string) (*witness, error) {
	f, err := os.OpenFile(path+witnessSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &witness{f}, nil
}

// Each line has its checksum at its end. One that does not fit says nothing.
func withSum(text string) string {
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

func witnessText(v report.Version) string { return withSum(fmt.Sprintf("%020d", int64(v))) }

func logText(b boundLog) string { return withSum(fmt.Sprintf("%-26s %020d", b.file, int64(b.base))) }

// witnessWidth is how long the first line is, and where the second begins.
var witnessWidth = len(witnessText(0))

func (w *witness) line(at int, like string) string {
	text := make([]byte, len(like))
	n, _ := w.file.ReadAt(text, int64(at))
	return string(text[:n])
}

// read returns the last version noted, 0 if there is none or it cannot be read: a
// witness that is damaged says nothing.
func (w *witness) read() (v report.Version) {
	text := w.line(0, witnessText(0))
	if _, err := fmt.Sscanf(text, "%d", &v); err != nil || witnessText(v) != text {
		return 0
	}
	return v
}

func (w *witness) note(v report.Version) error {
	_, err := w.file.WriteAt([]byte(witnessText(v)), 0)
	return err
}

// log returns the zero boundLog where that is not known.
func (w *witness) log() (b boundLog) {
	text := w.line(witnessWidth, logText(boundLog{}))
	if len(text) < 47 {
		return boundLog{}
	}
	b.file = strings.TrimSpace(text[:26])
	if _, err := fmt.Sscanf(text[26:47], "%d", &b.base); err != nil || logText(b) != text {
		return boundLog{}
	}
	return b
}

func (w *witness) noteLog(b boundLog) error {
	_, err := w.file.WriteAt([]byte(logText(b)), int64(witnessWidth))
	return err
}

func (w *witness) close() error { return w.file.Close() }

// compareWitness says so when changes that were acknowledged are not there, and notes it in
// the journal. What is there goes on: it is better than nothing, and the publisher can
// deliver the rest. Nothing of this may wait for a delivery, which would take a version
// above those that are missing, so that nobody would notice them any more.
func (j *Journal) compareWitness(ctx context.Context, withoutLog bool) error {
	l := &j.ledger
	found := whatIsLost(j.witness.read(), l.LastVersion, withoutLog, j.opt.Now())
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

// whatIsLost returns what a journal lacks that has everything up to a version. withoutLog says
// that the log of its file is gone, which matters where nobody noted what was acknowledged:
// it may have had anything up to now.
func whatIsLost(noted, has report.Version, withoutLog bool, now time.Time) commit.Loss {
	if noted == 0 && withoutLog {
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
		INSERT OR REPLACE INTO loss SELECT 1, ?2, ?3, ?4 WHERE ?3 > 0; COMMIT`, int64(l.LastVersion), int64(l.Loss.Since), int64(l.Loss.Until), l.Loss.NoticedAt)
	if err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // SQLite may have done so itself
	}
	return err
}

// noteWitness notes what is acknowledged from now on. A disk that cannot take it
// shows in the journal itself.
func (j *Journal) noteWitness(last report.Version) {
	if err := j.witness.note(last); err != nil && !errors.Is(err, os.ErrClosed) {
		j.opt.Log.Debug("cannot note the last version", "path", j.path+witnessSuffix, "error", err)
	}
}
