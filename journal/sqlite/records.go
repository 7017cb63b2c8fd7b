package sqlite

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/dustin/go-humanize"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// snapshotWAL is how large the WAL may become while Records reads. It cannot be truncated
// meanwhile, and its length counts for the disk quota: a client that reads slowly must not
// keep deliveries from being accepted.
const snapshotWAL = 256 << 20

// recordsBetweenChecks is how many records are read between two looks at the WAL.
const recordsBetweenChecks = 64

// recordsQuery leaves out bodies for which memory is to be awaited first.
const recordsQuery = `SELECT d.doc, coalesce(length(d.body), 0), d.kind, d.id, d.version, d.op, d.code, d.accepted_at, d.crc,
	CASE WHEN length(d.body) <= ?2 THEN d.body END, d.state, d.kept
	FROM documents AS d INDEXED BY documents_key
	WHERE d.kind = ?1 AND d.op = 'index' ORDER BY d.id`

// recordAhead is up to which size a body is read together with its length.
const recordAhead = 4 << 10

// Records implements Journal. It reads with a connection of its own, as a backup does, so
// that the journal can be repaired or closed meanwhile.
func (j *Journal) Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error] {
	return func(yield func(report.Record, error) bool) {
		more := true
		err := j.eachRecord(ctx, kind, func(r report.Record) bool {
			more = yield(r, nil)
			return more
		})
		if err != nil && more {
			yield(report.Record{}, fmt.Errorf("read the %s in the journal: %w", kind, err))
		}
	}
}

// eachRecord calls f with every record until f returns false.
func (j *Journal) eachRecord(ctx context.Context, kind report.Kind, f func(report.Record) bool) (err error) {
	if err := report.CheckKind(kind); err != nil {
		return err
	}
	if err := j.read(func(*engine) error { return nil }); err != nil { // as whoever reads it, on a disk that may hang
		return err
	}
	if moved := j.moved.Load(); moved != nil {
		return *moved // under its name is another file
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(j.open, func() { cancel(journal.ErrClosed) })()
	defer func() {
		if err != nil && context.Cause(ctx) != nil {
			err = context.Cause(ctx)
		}
	}()
	s, err := openSource(ctx, j.path)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	rows, err := s.conn.QueryContext(ctx, recordsQuery, string(kind), recordAhead)
	if err != nil {
		return err
	}
	defer rows.Close()
	for n := 0; rows.Next(); n++ {
		if n%recordsBetweenChecks == 0 {
			if err := checkSnapshot(j.path); err != nil {
				return err
			}
		}
		var doc, size looseInt
		r, err := scanRecord(func(into ...any) error { return rows.Scan(append([]any{&doc, &size}, into...)...) }, kind)
		if err == nil {
			err = report.AwaitMemory(ctx, int64(size))
		}
		if err == nil && size > recordAhead {
			r, err = scanRecord(s.conn.QueryRowContext(ctx, feedRecordQuery, int64(doc)).Scan, kind)
		}
		if err != nil {
			return err
		}
		if !f(r.Record) {
			return nil
		}
	}
	return rows.Err()
}

// checkSnapshot returns an error when too much was written to the WAL since it could be
// truncated last.
func checkSnapshot(path string) error {
	info, err := os.Stat(path + "-wal")
	if err == nil && info.Size() > snapshotWAL {
		return fmt.Errorf("%w: the WAL has %s", report.ErrSnapshotTooOld, humanize.IBytes(uint64(info.Size())))
	}
	return nil
}

// storedRecord is a record, and the state of its row.
type storedRecord struct {
	report.Record
	state int64
}

func scanRecord(scan func(...any) error, kind report.Kind) (r storedRecord, err error) {
	var in, id, op, code looseText
	var version, accepted, crc, state, kept looseInt
	var body looseBytes
	if err := scan(&in, &id, &version, &op, &code, &accepted, &crc, &body, &state, &kept); err != nil {
		return r, err
	}
	c := report.Change{
		Key: report.Key{Kind: report.Kind(in), ID: report.ID(id)}, Op: report.Op(op), Code: string(code),
		Version: report.Version(version), AcceptedAt: commit.FromMicro(int64(accepted)), Body: body,
	}
	r = storedRecord{commit.RecordOf(c, int64(state), commit.Checksum(c) == uint32(crc), int64(kept)), int64(state)}
	r.Kind = kind
	return r, nil
}
