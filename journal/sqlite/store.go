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

// store is the transaction on the writer's connection.
type store struct {
	ctx    context.Context // never ends: half a transaction helps nobody
	st     *statements
	now    time.Time
	ledger *commit.Ledger

	ahead []report.Key               // documents that will be looked up, in this order
	codes []string                   // that they may take
	known map[report.Key]*commit.Row // those that were looked up ahead, nil where there is none
	free  map[string]bool            // codes that were looked up ahead, where no city has or had one
	fresh []newDocument              // that are not in the table yet; fewer than many

	freshBytes int // of their bodies
}

func newStore(e *engine, l *commit.Ledger) *store {
	return &store{ctx: context.Background(), st: &e.st, ledger: l}
}

var _ commit.Store = (*store)(nil)

func (s *store) NextVersion(after report.Version) (report.Version, error) {
	s.ledger.LastVersion = max(report.Version(s.now.UnixMicro()), s.ledger.LastVersion+1, after+1)
	return s.ledger.LastVersion, nil
}

// BeginDelivery implements commit.Store. Only one transaction takes versions at a time.
func (s *store) BeginDelivery(int) error { return nil }

// EndDelivery implements commit.Store.
func (s *store) EndDelivery() {}

func (s *store) WithCode(code string, op report.Op, most int) ([]report.ID, error) {
	if code == "" || s.free[code] {
		return nil, nil
	}
	if err := s.insertFresh(); err != nil {
		return nil, err
	}
	return idsOf(s.st.byCode.QueryContext(s.ctx, string(report.Cities), code, string(op), most))
}

func (s *store) Put(c report.Change, n commit.Naming, waiting int64, old *commit.Row) error {
	var body any // NULL when there is none
	if len(c.Body) > 0 {
		body = c.Body
	}
	version, op, at, crc := int64(c.Version), string(c.Op), c.AcceptedAt.UnixMicro(), int64(commit.Checksum(c))
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
	case old.Op == c.Op && old.Code == c.Code: // the indices that have them stay as they are
		_, err = s.st.replaceContent.ExecContext(s.ctx, version, at, waiting, at, crc, body, old.Doc)
	default:
		_, err = s.st.replace.ExecContext(s.ctx, version, op, c.Code, at, waiting, at, crc, body, old.Doc)
	}
	if err == nil && n != old.Naming {
		err = s.keepNaming(c.Key, n)
	}
	if err == nil {
		err = s.dropTrace(old.Doc)
	}
	if err == nil {
		err = s.keepTrace(c.Key, c.Trace)
	}
	return err
}

// newDocument is a document that is to be inserted.
type newDocument struct {
	key    report.Key
	code   string
	naming commit.Naming
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
func (s *store) insertFresh() error {
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
		if d.naming != (commit.Naming{}) {
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

func (s *store) keepNaming(k report.Key, n commit.Naming) error {
	return s.exec(s.st.keepNaming, string(k.Kind), string(k.ID), int64(n.Kept), n.CodeOnly)
}

func (s *store) Rename(r *commit.Row, n commit.Naming) error {
	return s.keepNaming(report.Key{Kind: report.Cities, ID: r.ID}, n)
}

func (s *store) End(r *commit.Row, at int64) error {
	if err := s.exec(s.st.end, at, commit.StateDone, r.Doc); err != nil {
		return err
	}
	return s.dropTrace(r.Doc)
}

func (s *store) SetAside(r *commit.Row, at int64, errorType, reason string) error {
	if err := s.exec(s.st.setAside, r.Doc, at, errorType, reason); err != nil {
		return err
	}
	return s.dropTrace(r.Doc)
}

func (s *store) Drop(r *commit.Row, at int64, crc *uint32) error {
	var sum any // NULL leaves it as it is
	if crc != nil {
		sum = int64(*crc)
	}
	return s.exec(s.st.drop, r.Doc, at, sum)
}

func (s *store) EndClaimed(settlement report.Settlement, claimed commit.Claim, at int64) (bool, error) {
	if claimed.Doc == 0 {
		return false, nil
	}
	delete(s.known, settlement.Key)
	n, err := s.count(s.st.endClaimed, at, claimed.Doc, int64(settlement.Version), claimed.State)
	if n == 0 || err != nil {
		return false, err
	}
	return true, s.dropTrace(claimed.Doc)
}

func (s *store) Unclaim(commit.Settled) {} // claims are in memory

func (s *store) Wait(r *commit.Row, since int64) error { return s.exec(s.st.move, r.Doc, since) }

func (s *store) Mark(r *commit.Row) error { return s.exec(s.st.mark, r.Doc) }

func (s *store) Reissue(r *commit.Row, v report.Version, crc uint32) error {
	return s.exec(s.st.renew, r.Doc, int64(v), int64(crc))
}

// MarkAll goes in the order in which the documents are in the file: any other writes most of its
// pages once for each piece.
func (s *store) MarkAll(kind report.Kind, after report.ResendCursor, limit int) (n int64, next report.ResendCursor, err error) {
	s.forget()
	var last int64
	if err := s.st.lastDoc.QueryRowContext(s.ctx).Scan(&last); err != nil {
		return 0, report.ResendCursor{}, err
	}
	end := after.Doc + int64(limit)
	if end < last {
		next.Doc = end
	}
	n, err = s.count(s.st.resend, string(kind), after.Doc, end)
	return n, next, err
}

func (s *store) MarkDeleted(kind report.Kind, since int64) (int64, error) {
	s.forget()
	return s.count(s.st.resendDeleted, string(kind), since)
}

func (s *store) Origin(r *commit.Row) (report.Version, error) {
	var origin int64
	err := s.st.origin.QueryRowContext(s.ctx, r.Doc, int64(r.Version)).Scan(&origin)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("look up since when %q is as it is: %w", r.ID, err)
	}
	return report.Version(origin), nil
}

// KeepOrigin leaves the next version without one until it is noted for that one.
func (s *store) KeepOrigin(k report.Key, origin report.Version) error {
	err := s.insertFresh()
	if err == nil {
		err = s.exec(s.st.keepOrigin, string(k.Kind), string(k.ID), int64(origin))
	}
	if err != nil {
		return fmt.Errorf("note since when %s %q is as it is: %w", k.Kind, k.ID, err)
	}
	return nil
}

// Receipt returns a digest that is not nil where there is one.
func (s *store) Receipt(sender, id string, since int64) (digest, answer []byte, err error) {
	err = s.st.receipt.QueryRowContext(s.ctx, sender, id, since).Scan(&digest, &answer)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	}
	return digest, answer, err
}

// KeepReceipt has SQLite store no bytes as such, and not as NULL.
func (s *store) KeepReceipt(r report.Receipt, at int64) error {
	return s.exec(s.st.keepReceipt, r.Sender, r.ID, at, r.Digest, append([]byte{}, r.Answer...))
}

func (s *store) DropReceipts(before int64) error { return s.exec(s.st.dropReceipts, before) }

// Loss implements commit.Store. The ledger has it.
func (s *store) Loss() (commit.Loss, error) { return s.ledger.Loss, nil }

func (s *store) LostUntil() (until report.Version, err error) {
	err = s.st.lostUntil.QueryRowContext(s.ctx).Scan(&until)
	return until, err
}

func (s *store) KeepLoss(l commit.Loss) error {
	return s.exec(s.st.keepLoss, int64(l.Since), int64(l.Until), l.NoticedAt)
}

func (s *store) NewestBefore(kind report.Kind, v report.Version) (newest report.Version, err error) {
	if err = s.insertFresh(); err != nil {
		return 0, err
	}
	err = s.st.newestBefore.QueryRowContext(s.ctx, string(kind), int64(v)).Scan(&newest)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return newest, err
}

func (s *store) EndLoss() (l commit.Loss, err error) {
	if err = s.st.endLoss.QueryRowContext(s.ctx).Scan(l.ScanTargets()...); errors.Is(err, sql.ErrNoRows) {
		err = report.ErrNotFound
	}
	return l, err
}

func (s *store) Note(name, value string) error { return s.exec(s.st.keepNote, name, value) }

func (s *store) exec(stmt *sql.Stmt, args ...any) error {
	_, err := stmt.ExecContext(s.ctx, args...)
	return err
}

// count returns how many rows a statement changed.
func (s *store) count(stmt *sql.Stmt, args ...any) (int64, error) {
	result, err := stmt.ExecContext(s.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// finish writes what changed of the ledger, so that it is committed together with
// the documents it speaks of.
func (s *store) finish(before commit.Ledger) error {
	if err := s.insertFresh(); err != nil {
		return err
	}
	if s.ledger.LastVersion != before.LastVersion {
		if err := s.exec(s.st.version, int64(s.ledger.LastVersion)); err != nil {
			return fmt.Errorf("keep the last version: %w", err)
		}
	}
	for k, t := range s.ledger.Totals {
		if t == before.Totals[k] {
			continue
		}
		if err := s.exec(s.st.totals, string(k), t.Indexes, t.Deletes, t.Indexed, t.Deleted,
			t.Superseded, t.Died, t.Pending, t.Resending, t.DeadLetters, t.Tombstones, t.Dropped, t.History, t.HistoryBytes, t.HistoryDropped, int64(t.DroppedVersion)); err != nil {
			return fmt.Errorf("keep the totals of %s: %w", k, err)
		}
	}
	return nil
}
