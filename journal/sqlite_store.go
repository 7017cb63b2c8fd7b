package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"riskdex/report"
)

// sqliteStore is a transaction on the writer's connection.
type sqliteStore struct {
	ctx    context.Context // never ends: half a transaction helps nobody
	st     *statements
	now    time.Time
	ledger *ledger

	ahead []report.Key        // documents that will be looked up, in this order
	codes []string            // that they may take
	known map[report.Key]*row // those that were looked up ahead, nil where there is none
	free  map[string]bool     // codes that were looked up ahead, where no city has or had one
	fresh []newDocument       // that are not in the table yet; fewer than many

	freshBytes int // of their bodies
}

func newSQLiteStore(e *engine, l *ledger) *sqliteStore {
	return &sqliteStore{ctx: context.Background(), st: &e.st, ledger: l}
}

var _ store = (*sqliteStore)(nil)

func (s *sqliteStore) nextVersion(after report.Version) (report.Version, error) {
	s.ledger.last = max(report.Version(s.now.UnixMicro()), s.ledger.last+1, after+1)
	return s.ledger.last, nil
}

func (s *sqliteStore) withCode(code string, op report.Op, most int) ([]report.ID, error) {
	if s.free[code] {
		return nil, nil
	}
	if err := s.insertFresh(); err != nil {
		return nil, err
	}
	return idsOf(s.st.byCode.QueryContext(s.ctx, string(report.Cities), code, string(op), most))
}

func (s *sqliteStore) put(c report.Change, n naming, waiting int64, old *row) error {
	var body any // NULL when there is none
	if len(c.Body) > 0 {
		body = c.Body
	}
	version, op, at, crc := int64(c.Version), string(c.Op), c.AcceptedAt.UnixMicro(), int64(checksum(c))
	delete(s.free, c.Code)
	var err error
	switch {
	case old == nil:
		s.fresh = append(s.fresh, newDocument{
			key: c.Key, code: c.Code, naming: n, trace: c.Trace,
			args: [insertArgs]any{string(c.Kind), string(c.ID), version, op, c.Code, at, waiting, at, crc, body},
		})
		if s.freshBytes += len(c.Body); len(s.fresh) == many || s.freshBytes > maxFreshBytes {
			err = s.insertFresh()
		}
		return err
	case old.op == c.Op && old.code == c.Code: // the indices that have them stay as they are
		_, err = s.st.replaceContent.ExecContext(s.ctx, version, at, waiting, at, crc, body, old.doc)
	default:
		_, err = s.st.replace.ExecContext(s.ctx, version, op, c.Code, at, waiting, at, crc, body, old.doc)
	}
	if err == nil && n != old.naming {
		err = s.keepNaming(c.Key, n)
	}
	if err == nil {
		err = s.dropTrace(old.doc)
	}
	if err == nil {
		err = s.keepTrace(c.Key, c.Trace)
	}
	return err
}

// newDocument is one that the table is to have.
type newDocument struct {
	key    report.Key
	code   string
	naming naming
	trace  string
	args   [insertArgs]any
}

const (
	insertArgs = 10 // of insertQuery for each document
	// maxFreshBytes bounds the bodies in a statement, which SQLite copies for it.
	maxFreshBytes = 1 << 20
)

// insertFresh inserts the new documents, which are kept back until they fill a statement,
// or until something is to be found or written that may be one of them.
func (s *sqliteStore) insertFresh() error {
	list := s.fresh
	s.fresh, s.freshBytes = s.fresh[:0], 0
	if len(list) == many {
		args := make([]any, 0, many*insertArgs)
		for _, d := range list {
			args = append(args, d.args[:]...)
		}
		if _, err := s.st.insertMany.ExecContext(s.ctx, args...); err != nil {
			return err
		}
	}
	for _, d := range list {
		if len(list) < many {
			if _, err := s.st.insert.ExecContext(s.ctx, d.args[:]...); err != nil {
				return fmt.Errorf("write %s %q: %w", d.key.Kind, d.key.ID, err)
			}
		}
		if d.naming != (naming{}) {
			if err := s.keepNaming(d.key, d.naming); err != nil {
				return err
			}
		}
		if err := s.keepTrace(d.key, d.trace); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqliteStore) keepNaming(k report.Key, n naming) error {
	return s.exec(s.st.keepNaming, string(k.Kind), string(k.ID), int64(n.kept), n.alone)
}

func (s *sqliteStore) rename(r *row, n naming) error {
	return s.keepNaming(report.Key{Kind: report.Cities, ID: r.id}, n)
}

func (s *sqliteStore) end(r *row, at int64) error {
	if err := s.exec(s.st.end, done, at, r.doc); err != nil {
		return err
	}
	return s.dropTrace(r.doc)
}

func (s *sqliteStore) setAside(r *row, at int64, errorType, reason string) error {
	if err := s.exec(s.st.setAside, r.doc, at, errorType, reason); err != nil {
		return err
	}
	return s.dropTrace(r.doc)
}

func (s *sqliteStore) drop(r *row, at int64, crc *uint32) error {
	var sum any // NULL leaves it as it is
	if crc != nil {
		sum = int64(*crc)
	}
	return s.exec(s.st.drop, r.doc, at, sum)
}

func (s *sqliteStore) endClaimed(settlement report.Settlement, held claim, at int64) (bool, error) {
	if held.doc == 0 {
		return false, nil
	}
	delete(s.known, settlement.Key)
	n, err := s.count(s.st.endClaimed, at, held.doc, int64(settlement.Version), held.state)
	if n == 0 || err != nil {
		return false, err
	}
	return true, s.dropTrace(held.doc)
}

func (s *sqliteStore) unclaim(settled) {} // claims are in memory

func (s *sqliteStore) wait(r *row, since int64) error { return s.exec(s.st.move, r.doc, since) }

func (s *sqliteStore) mark(r *row) error { return s.exec(s.st.mark, r.doc) }

func (s *sqliteStore) renew(r *row, v report.Version, crc uint32) error {
	return s.exec(s.st.renew, r.doc, int64(v), int64(crc))
}

func (s *sqliteStore) markAll(kind report.Kind, _ report.ID) (n int64, next report.ID, err error) {
	s.forget()
	n, err = s.count(s.st.resend, string(kind))
	return n, "", err
}

func (s *sqliteStore) markDeleted(kind report.Kind, since int64) (int64, error) {
	s.forget()
	return s.count(s.st.resendDeleted, string(kind), since)
}

func (s *sqliteStore) origin(r *row) (report.Version, error) {
	var origin int64
	err := s.st.origin.QueryRowContext(s.ctx, r.doc, int64(r.version)).Scan(&origin)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("look up since when %q is as it is: %w", r.id, err)
	}
	return report.Version(origin), nil
}

// keepOrigin leaves the next version without one until it is noted for that one.
func (s *sqliteStore) keepOrigin(k report.Key, origin report.Version) error {
	err := s.insertFresh()
	if err == nil {
		err = s.exec(s.st.keepOrigin, string(k.Kind), string(k.ID), int64(origin))
	}
	if err != nil {
		return fmt.Errorf("note since when %s %q is as it is: %w", k.Kind, k.ID, err)
	}
	return nil
}

// receipt returns a digest that is not nil where there is one.
func (s *sqliteStore) receipt(sender, id string, since int64) (digest, answer []byte, err error) {
	err = s.st.receipt.QueryRowContext(s.ctx, sender, id, since).Scan(&digest, &answer)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	}
	return digest, answer, err
}

// keepReceipt has SQLite store no bytes as such, and not as NULL.
func (s *sqliteStore) keepReceipt(r report.Receipt, at int64) error {
	return s.exec(s.st.keepReceipt, r.Sender, r.ID, at, r.Digest, append([]byte{}, r.Answer...))
}

func (s *sqliteStore) dropReceipts(before int64) error { return s.exec(s.st.dropReceipts, before) }

func (s *sqliteStore) endLoss() (l loss, err error) {
	if err = s.st.endLoss.QueryRowContext(s.ctx).Scan(l.into()...); errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return l, err
}

func (s *sqliteStore) note(name, value string) error { return s.exec(s.st.keepNote, name, value) }

func (s *sqliteStore) exec(stmt *sql.Stmt, args ...any) error {
	_, err := stmt.ExecContext(s.ctx, args...)
	return err
}

// count returns how many rows a statement changed.
func (s *sqliteStore) count(stmt *sql.Stmt, args ...any) (int64, error) {
	result, err := stmt.ExecContext(s.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// finish writes what changed of the ledger, so that it is committed together with
// the documents it speaks of.
func (s *sqliteStore) finish(before ledger) error {
	if err := s.insertFresh(); err != nil {
		return err
	}
	if s.ledger.last != before.last {
		if err := s.exec(s.st.version, int64(s.ledger.last)); err != nil {
			return fmt.Errorf("keep the last version: %w", err)
		}
	}
	for k, t := range s.ledger.totals {
		if t == before.totals[k] {
			continue
		}
		if err := s.exec(s.st.totals, string(k), t.indexes, t.deletes, t.indexed, t.deleted,
			t.superseded, t.died, t.pending, t.resending, t.deadLetters, t.tombstones, t.dropped); err != nil {
			return fmt.Errorf("keep the totals of %s: %w", k, err)
		}
	}
	return nil
}
