package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// store is a transaction in PostgreSQL. It keeps the rows that it has found, which are locked,
// and writes the changed ones together at the end: a statement for each row would be a round
// trip for each.
type store struct {
	ctx    context.Context // ends before the server gives up on the transaction
	tx     *pgx.Conn       // in an open transaction
	keys   lockKeys
	at     *int64           // the clock, as the parameter of statements
	now    int64            // its time
	wall   func() time.Time // the clock of this process
	me     int64
	names  bool // it has the lock of the names of cities
	sync   bool // the commit must survive a power cut
	ledger *commit.Ledger
	server string // thisServer

	// The versions from next to last were taken from the sequence and are not given out yet;
	// before is the value that the sequence had before them.
	before, first, next, last report.Version

	whole bool // a delivery is under way, whose versions must all be taken at once
	spare int  // how many more than expected a delivery takes

	found []*commit.Row // that are locked

	outOfOrder []report.Key // looked up out of the order of locks
}

var _ commit.Store = (*store)(nil)

// rowFields are the columns of documents without the body.
func rowFields(r *commit.Row) tables.Fields {
	return append(tables.RowFields(r), tables.Field{Name: "free_at", At: (*tables.Int)(&r.FreeAt)},
		tables.Field{Name: "holder", At: (*tables.Int)(&r.Holder)}, tables.Field{Name: "claimed", At: (*tables.Int)(&r.Claimed)})
}

func wholeFields(r *commit.Row) tables.Fields {
	return append(rowFields(r), tables.Field{Name: "body", At: (*tables.Bytes)(&r.Body)})
}

func (s *store) scanRow(rows pgx.Rows) error {
	var r commit.Row
	err := rows.Scan(append(rowFields(&r).Targets(), (*tables.Int)(&r.Bytes))...)
	r.ClaimedElsewhere = r.Holder < 0 || r.Claimed != 0 && r.Holder != s.me
	s.found = append(s.found, &r)
	return err
}

// readRows reads the result of a lookup.
func (s *store) readRows(rows pgx.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := s.scanRow(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// lookupRows locks rows in the order of their keys, so that two processes that want the same
// rows cannot deadlock. A row that is looked up later is out of order: if another process has
// it, the transaction does not wait but begins again, with that row in its lock set.
var lookupRows = `SELECT ` + rowFields(&commit.Row{}).List("@") + `, ` + tables.Length + ` FROM unnest($1::text[], $2::bytea[]) AS wanted (kind, id)
	JOIN documents d USING (kind, id) ORDER BY d.kind, d.id FOR UPDATE OF d`

func lookupArgs(keys []report.Key) []any {
	kinds, ids := make([]string, len(keys)), make([][]byte, len(keys))
	for i, k := range keys {
		kinds[i], ids[i] = string(k.Kind), []byte(k.ID)
	}
	return []any{kinds, ids}
}

// Load implements commit.Store.
func (s *store) Load(keys []report.Key) ([]*commit.Row, error) {
	n := len(s.found)
	s.outOfOrder = append(s.outOfOrder, keys...)
	rows, err := s.tx.Query(s.ctx, lookupRows+" NOWAIT", lookupArgs(keys)...)
	if err := s.readRows(rows, err); err != nil {
		return nil, err
	}
	found := s.found[n:]
	for _, r := range found {
		if r.Version >= s.next && s.whole && s.next <= s.last {
			return nil, errVersions
		}
		if r.Version >= s.next {
			s.next = s.last + 1 // it was given a later version after these were taken
		}
	}
	return found, nil
}

func (s *store) NextVersion(after report.Version) (report.Version, error) {
	if s.whole && s.next > s.last {
		return 0, errVersions
	}
	if s.next > s.last || s.next <= after {
		const more = 64
		err := s.tx.SendBatch(s.ctx, s.queueVersions(&pgx.Batch{}, more, after)).Close()
		if err != nil {
			return 0, fmt.Errorf("take versions: %w", err)
		}
	}
	s.next++
	return s.next - 1, nil
}

// errVersions makes a transaction run again, with more versions for each delivery and with the
// documents that it found late in its lock set. It took too few versions, or a document has got
// a later version since.
var errVersions = errors.New("the versions of a delivery would not follow each other")

// BeginDelivery implements commit.Store.
func (s *store) BeginDelivery(n int, above report.Version) error {
	if n += s.spare; report.Version(n) > s.last-s.next+1 || s.next <= above {
		if err := s.tx.SendBatch(s.ctx, s.queueVersions(&pgx.Batch{}, int64(n), above)).Close(); err != nil {
			return fmt.Errorf("take versions: %w", err)
		}
	}
	s.whole = true
	return nil
}

// EndDelivery implements commit.Store.
func (s *store) EndDelivery() { s.whole = false }

// queueVersions takes n versions from the sequence: later than any that a process has taken
// before, and ahead of the clock and of after. The rows that they are for are locked by then,
// so the versions of a document grow in the order of commits. The sequence is durable before
// any later commit.
func (s *store) queueVersions(b *pgx.Batch, n int64, after report.Version) *pgx.Batch {
	b.Queue("SELECT pg_advisory_lock($1, $2)", s.keys.class, int32(lockVersions))
	b.Queue("SELECT last_value, setval('versions', greatest(last_value + 1, $3::bigint + 1, "+serverTime("$1")+") + $2 - 1) FROM versions", s.at, n, int64(after)).
		QueryRow(func(r pgx.Row) error {
			var before, last report.Version
			err := r.Scan(&before, &last)
			if before != s.last { // the first, or others have taken some since
				s.before, s.first = before, last-report.Version(n)+1
			}
			if first := last - report.Version(n) + 1; before != s.last || first != before+1 || s.next <= after {
				s.next = first // else they follow those that are left
			}
			s.last = last
			return err
		})
	b.Queue("SELECT pg_advisory_unlock($1, $2)", s.keys.class, int32(lockVersions))
	return b
}

// queueUnused puts versions back that were taken and not given out, unless another
// process has taken some since.
func (s *store) queueUnused(b *pgx.Batch) {
	if s.next > s.last {
		return
	}
	back := s.next - 1
	if s.next == s.first {
		back = s.before
	}
	b.Queue("SELECT pg_advisory_lock($1, $2)", s.keys.class, int32(lockVersions))
	b.Queue("SELECT setval('versions', $1) FROM versions WHERE last_value = $2", int64(back), int64(s.last))
	b.Queue("SELECT pg_advisory_unlock($1, $2)", s.keys.class, int32(lockVersions))
}

func (s *store) EndClaimed(report.Key, commit.Claim, int64) (bool, error) { return false, nil }

func (s *store) MarkAll(kind report.Kind, after report.ResendCursor, limit int) (n int64, next report.ResendCursor, err error) {
	var last []byte
	var looked int
	err = s.tx.QueryRow(s.ctx, commit.SQL(`WITH looked AS MATERIALIZED (
			SELECT id, state FROM documents WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3 FOR UPDATE
		), marked AS (
			UPDATE documents d SET state = {resend} FROM looked l WHERE d.kind = $1 AND d.id = l.id AND l.state = {done} AND d.state = {done} RETURNING 1
		)
		SELECT (SELECT count(*) FROM marked), (SELECT count(*) FROM looked), (SELECT id FROM looked ORDER BY id DESC LIMIT 1)`),
		string(kind), []byte(after), limit).Scan(&n, &looked, &last)
	if looked == limit {
		next = report.ResendCursor(last)
	}
	return n, next, err
}

// Flush implements commit.Store.
func (s *store) Flush(w commit.Writes) error {
	if err := s.checkNames(w.Rows); err != nil {
		return err
	}
	return s.tx.SendBatch(s.ctx, s.queueWrites(&pgx.Batch{}, w)).Close()
}

// Unclaim implements commit.Store.
func (s *store) Unclaim(n commit.Settled, r *commit.Row) bool {
	if r == nil {
		return false
	}
	before := r.Lease
	ended := r.Holder == s.me && r.Claimed == int64(n.Version)
	if ended {
		r.Holder, r.Claimed = 0, 0
	}
	if n.Ended && r.Claimed == 0 {
		r.FreeAt, r.Holder = 0, 0
	}
	if at := s.freeAt(n.NotBefore); at != 0 && (n.Retried || n.Newer && ended) {
		if r.FreeAt = at; commit.DeferralOf(n).Debounce {
			r.FreeAt = -at
		}
	}
	if r.Lease != before && r.Claimed == 0 && max(r.FreeAt, -r.FreeAt) > s.now {
		r.Holder = s.me // a deferral ends with its process
	}
	return r.Lease != before
}

// freeAt converts a time of this process to the shared clock; 0 is a time that has passed.
func (s *store) freeAt(t time.Time) int64 {
	wait := t.Sub(s.wall())
	if t.IsZero() || wait <= 0 {
		return 0
	}
	return s.now + wait.Microseconds()
}

// queueWrites queues the statements that write the history and the changed rows.
func (s *store) queueWrites(b *pgx.Batch, w commit.Writes) *pgx.Batch {
	queuePast(b, w, s.slot())
	var fresh, written, rest []*commit.Row
	for _, r := range w.Rows {
		switch {
		case r.Fresh:
			fresh = append(fresh, r)
		case r.Written:
			written = append(written, r)
		default:
			rest = append(rest, r)
		}
	}
	for _, list := range [][]*commit.Row{fresh, written, rest} {
		slices.SortFunc(list, func(a, b *commit.Row) int { return commit.CompareKeys(a.Key, b.Key) })
	}
	if len(fresh) > 0 {
		b.Queue(insertRows, arrays(fresh, wholeFields)...)
	}
	if len(written) > 0 {
		b.Queue(updateWholeRows, arrays(written, wholeFields)...)
	}
	if len(rest) > 0 {
		b.Queue(updateRows, arrays(rest, rowFields)...)
	}
	return b
}

var (
	insertRows      = `INSERT INTO documents (` + wholeFields(&commit.Row{}).List("@") + `) SELECT * FROM ` + unnest(wholeFields(&commit.Row{}))
	updateWholeRows = updateQuery(wholeFields(&commit.Row{}))
	updateRows      = updateQuery(rowFields(&commit.Row{}))
)

// updateQuery returns the statement that sets fields, after those of the key.
func updateQuery(f tables.Fields) string {
	return `UPDATE documents d SET ` + f[tables.KeyFields:].List("@ = n.@") + ` FROM ` + unnest(f) + ` WHERE d.kind = n.kind AND d.id = n.id`
}

// queueLedger queues the statements that add to the sums what has changed since before.
func (s *store) queueLedger(b *pgx.Batch, before commit.Ledger) {
	for _, k := range report.AllKinds() {
		if t := s.ledger.Totals[k]; t != (commit.Totals{}) {
			b.Queue(addTotals, append(tables.TotalsFields(&t).Values(), s.slot(), string(k))...)
		}
	}
	refusals, size := s.ledger.Refusals-before.Refusals, s.ledger.RefusalBytes-before.RefusalBytes
	if refusals != 0 || size != 0 {
		b.Queue("UPDATE meta SET refusals = refusals + $1, refusal_bytes = refusal_bytes + $2", refusals, size)
	}
}

// Exec implements commit.Store.
func (s *store) Exec(query string, args ...any) (int64, error) {
	tag, err := s.tx.Exec(s.ctx, dialect(query), parameters(args)...)
	return tag.RowsAffected(), err
}

// Query implements commit.Store.
func (s *store) Query(f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := s.tx.Query(s.ctx, dialect(query), parameters(args)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); errors.Is(err, commit.ErrEnough) {
			break
		} else if err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}

func dialect(query string) string { return commit.SQL(words.Replace(query)) }

var words = strings.NewReplacer("{lock}", "ORDER BY id FOR UPDATE", "{skip locked}", "FOR UPDATE SKIP LOCKED", "{and unclaimed}", "AND claimed = 0")

func parameters(args []any) []any {
	for i, a := range args {
		if text, ok := a.(commit.Text); ok {
			args[i] = []byte(text)
		}
	}
	return args
}

// slots is the number of rows that hold the sums of a kind, so how many processes can add to
// them at the same time.
const slots = 16

// slot is the one that this process adds to.
func (s *store) slot() int16 { return int16(s.me % slots) }

var addTotals = fmt.Sprintf(`INSERT INTO totals AS t (%[1]s, slot, kind) VALUES (%[2]s, $%[3]d, $%[4]d)
	ON CONFLICT (slot, kind) DO UPDATE SET %[5]s`, totals.List("@"), totals.List("$#"), len(totals)+1, len(totals)+2,
	tables.EachTotal("@ = t.@ + excluded.@", "@ = greatest(t.@, excluded.@)"))

var totals = tables.TotalsFields(&commit.Totals{})
