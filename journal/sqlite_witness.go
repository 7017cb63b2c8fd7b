package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"

	"riskdex/report"
)

// witness is a file beside the journal with the last version that was
// acknowledged. It is written after the journal is durable and never waits for the
// disk itself, so that the journal is always as far as it, or further. If it is
// not, then it has lost what it had acknowledged: its log was damaged, which
// SQLite cannot tell from one that was cut short, or an older copy was put in its
// place.
type witness struct{ file *os.File }

const witnessSuffix = ".last"

func openWitness(path string) (*witness, error) {
	f, err := os.OpenFile(path+witnessSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &witness{f}, nil
}

func witnessText(v report.Version) string {
	digits := fmt.Sprintf("%020d", int64(v))
	return fmt.Sprintf("%s %08x\n", digits, crc32.ChecksumIEEE([]byte(digits)))
}

// read returns the last version noted, 0 if there is none or it cannot be read: a
// witness that is damaged says nothing.
func (w *witness) read() report.Version {
	text, err := io.ReadAll(io.NewSectionReader(w.file, 0, 64))
	if err != nil {
		return 0
	}
	var v report.Version
	if _, err := fmt.Sscanf(string(text), "%d", &v); err != nil || witnessText(v) != string(text) {
		return 0
	}
	return v
}

func (w *witness) note(v report.Version) error {
	_, err := io.WriteString(io.NewOffsetWriter(w.file, 0), witnessText(v))
	return err
}

func (w *witness) close() error { return w.file.Close() }

// compareWitness says so when changes that were acknowledged are not there. What is there
// goes on: it is better than nothing, and the publisher can deliver the rest.
func (j *SQLite) compareWitness() {
	noted, has := j.witness.read(), j.ledger.last
	if noted <= has {
		return
	}
	at := func(v report.Version) string { return time.UnixMicro(int64(v)).UTC().Format(time.RFC3339Nano) }
	attrs := []any{"path", j.path, "acknowledged_until", at(noted)}
	if has > 0 {
		attrs = append(attrs, "has_until", at(has))
	}
	j.opt.Log.Error("the journal lacks changes that it had acknowledged: it is damaged, or an older copy of it; "+
		"have the publisher deliver again what it sent between these times", attrs...)
	// Versions must not be given out twice, whatever the clock says.
	j.ledger.last = noted
}

// noteWitness notes what is acknowledged from now on. A disk that cannot take it
// shows in the journal itself.
func (j *SQLite) noteWitness(last report.Version) {
	if err := j.witness.note(last); err != nil && !errors.Is(err, os.ErrClosed) {
		j.opt.Log.Debug("cannot note the last version", "path", j.path+witnessSuffix, "error", err)
	}
}
