package journal

import (
	"fmt"
	"strings"

	"riskdex/report"
)

func (tx *transaction) append(d report.Delivery, opt Options) ([]report.Stamp, error) {
	stamps := make([]report.Stamp, 0, len(d.Changes))
	for _, c := range d.Changes {
		key, old, err := tx.resolve(c)
		if err == nil {
			c.Key = key
			err = tx.put(&c, old)
		}
		if err != nil {
			return nil, fmt.Errorf("write %s %q: %w", c.Kind, c.ID, err)
		}
		stamps = append(stamps, report.Stamp{Key: key, Version: c.Version})
	}
	return stamps, tx.refuse(d.Refusals, opt)
}

// resolve tells which document a change is for, and returns its row if it has
// one. A city answers to its code: what is not the id of a live city may be the
// code of exactly one. Live cities go before tombstones; the id that the body
// states counts only when nothing is known under the one that was addressed.
func (tx *transaction) resolve(c report.Change) (report.Key, *row, error) {
	r, err := tx.find(c.Key)
	if err != nil || c.Kind != report.Cities || r != nil && r.op != report.Delete {
		return c.Key, r, err
	}
	code := strings.ToUpper(string(c.ID))
	found, err := tx.onlyOneWithCode(code, report.Index)
	if err == nil && found == "" && r == nil {
		found, err = tx.onlyOneWithCode(code, report.Delete)
		if found == "" {
			found = c.OwnID
		}
	}
	if err != nil || found == "" {
		return c.Key, r, err
	}
	key := report.Key{Kind: c.Kind, ID: found}
	r, err = tx.find(key)
	return key, r, err
}

// onlyOneWithCode returns the id of the one city with that code whose newest
// change is op, and nothing when there is none or more than one.
func (tx *transaction) onlyOneWithCode(code string, op report.Op) (report.ID, error) {
	rows, err := tx.st.byCode.QueryContext(tx.ctx, string(report.Cities), code, string(op))
	if err != nil {
		return "", fmt.Errorf("look up the code %q: %w", code, err)
	}
	defer rows.Close()
	var ids []report.ID
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return "", fmt.Errorf("look up the code %q: %w", code, err)
		}
		ids = append(ids, report.ID(id))
	}
	if err := rows.Err(); err != nil || len(ids) != 1 {
		return "", err
	}
	return ids[0], nil
}

// put writes a change over the row that its document has, if any, and gives it
// its version. A document that already waits goes on waiting since then; a code
// that the new body does not state stays, since a later path may carry it.
func (tx *transaction) put(c *report.Change, old *row) error {
	c.Version = tx.nextVersion()
	c.AcceptedAt = tx.now
	if old != nil && c.Code == "" {
		c.Code = old.code
	}
	var body any // NULL when there is none
	if len(c.Body) > 0 {
		body = c.Body
	}
	at := tx.now.UnixMicro()
	waiting := at
	if old != nil && old.state == pending {
		waiting = old.waitedAt
	}
	tx.ledger.update(c.Kind, func(t *totals) {
		if old != nil {
			t.leave(old.state)
		}
		t.accept(c.Op)
	})
	tx.touched[c.Key] = struct{}{}
	tx.wake = true

	version, op, crc := int64(c.Version), string(c.Op), int64(checksum(*c))
	var err error
	if old == nil {
		_, err = tx.st.insert.ExecContext(tx.ctx, string(c.Kind), string(c.ID), version, op, c.Code, at, waiting, crc, body)
	} else {
		_, err = tx.st.replace.ExecContext(tx.ctx, old.doc, version, op, c.Code, at, waiting, crc, body)
	}
	return err
}

// refuse keeps refusals and drops the oldest beyond the bounds.
func (tx *transaction) refuse(refusals []report.Refusal, opt Options) error {
	refusals = refusals[max(0, len(refusals)-opt.MaxRefusals):]
	for _, r := range refusals {
		r = clipRefusal(r)
		size := refusalBytes(r)
		if _, err := tx.st.refuse.ExecContext(tx.ctx, r.At.UnixMicro(), size, string(r.Kind), r.Method, r.Path,
			r.Position, r.ID, r.Reason, r.Detail, r.Body); err != nil {
			return fmt.Errorf("keep a refusal: %w", err)
		}
		tx.ledger.refusals++
		tx.ledger.refusalBytes += size
	}
	if len(refusals) == 0 || !tx.ledger.tooManyRefusals(opt) {
		return nil
	}
	return tx.dropRefusals(opt)
}
