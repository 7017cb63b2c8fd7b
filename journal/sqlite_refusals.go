package journal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"riskdex/report"
)

// maxRefusalText bounds each text of a refusal that is kept, in bytes.
const maxRefusalText = 8 << 10

func clipRefusal(r report.Refusal) report.Refusal {
	for _, s := range []*string{&r.Method, &r.Path, &r.ID, &r.Reason, &r.Detail} {
		*s = clip(*s, maxRefusalText)
	}
	r.Body = r.Body[:min(len(r.Body), MaxRefusalBody)]
	return r
}

// clip returns at most n bytes of s, without half a character at its end.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// refusalBytes is about what a refusal takes on disk.
func refusalBytes(r report.Refusal) int64 {
	return int64(64 + len(r.Kind) + len(r.Method) + len(r.Path) + len(r.ID) + len(r.Reason) + len(r.Detail) + len(r.Body))
}

func (l ledger) tooManyRefusals(opt Options) bool {
	return l.refusals > opt.MaxRefusals || l.refusalBytes > opt.MaxRefusalBytes
}

// dropRefusals drops the oldest refusals until the rest is within the bounds.
func (tx *transaction) dropRefusals(opt Options) error {
	last, err := tx.lastToDrop(opt)
	if err == nil {
		_, err = tx.st.dropRefusal.ExecContext(tx.ctx, last)
	}
	if err != nil {
		return fmt.Errorf("drop the oldest refusals: %w", err)
	}
	return nil
}

func (tx *transaction) lastToDrop(opt Options) (last int64, err error) {
	rows, err := tx.st.oldestRefusals.QueryContext(tx.ctx)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for tx.ledger.tooManyRefusals(opt) && rows.Next() {
		var size int64
		if err := rows.Scan(&last, &size); err != nil {
			return 0, err
		}
		tx.ledger.refusals--
		tx.ledger.refusalBytes -= size
	}
	return last, rows.Err()
}

// Refusals implements Journal.
func (j *SQLite) Refusals(ctx context.Context, limit int) (list []report.Refusal, err error) {
	err = j.read(func(e *engine) error {
		list, err = e.refusals(ctx, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the refusals kept in the journal: %w", err)
	}
	return list, nil
}

func (e *engine) refusals(ctx context.Context, limit int) ([]report.Refusal, error) {
	rows, err := e.readers.QueryContext(ctx, `SELECT at, kind, method, path, position, id, reason, detail, body
		FROM refusals ORDER BY seq DESC LIMIT ?`, max(limit, 0))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []report.Refusal
	for rows.Next() {
		var r report.Refusal
		var at int64
		if err := rows.Scan(&at, &r.Kind, &r.Method, &r.Path, &r.Position, &r.ID, &r.Reason, &r.Detail, &r.Body); err != nil {
			return nil, err
		}
		r.At = time.UnixMicro(at).UTC()
		list = append(list, r)
	}
	return list, rows.Err()
}
