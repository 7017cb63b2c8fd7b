package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// uncertainClaim is a Claim whose answer was lost: it may have claimed something or not.
type uncertainClaim struct {
	me   int64
	kind report.Kind
	ids  [][]byte
}

// releaseUncertain releases what was claimed but not given out, because the answer was lost.
// Nobody would settle that as long as this process lives. It runs before the next Claim of this
// process. The caller holds reading.
func (j *Journal) releaseUncertain(ctx context.Context) error {
	for len(j.uncertain) > 0 {
		c := j.uncertain[0]
		err := j.inTransaction(ctx, func(tx pgx.Tx) error {
			// The first statement waits for the end of the transaction of that Claim.
			if _, err := tx.Exec(ctx, "SELECT FROM documents WHERE kind = $1 AND id = ANY($2) ORDER BY id FOR UPDATE", string(c.kind), c.ids); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE documents SET holder = 0, claimed = 0 WHERE kind = $1 AND id = ANY($2) AND holder = $3 AND claimed <> 0",
				string(c.kind), c.ids, c.me)
			return err
		})
		if err != nil {
			return fmt.Errorf("give back what may have been claimed before: %w", err)
		}
		j.uncertain = j.uncertain[1:]
	}
	return nil
}

// giveBackClaims releases all claims of this process, since the server may have been restarted
// or replaced. Settlements do not wait for the disk, so the server may have lost one and still
// have its claim, which nobody would settle as long as this process lives. Changes that are
// under way are given out again. Their late settlements are ignored: they may be about an index
// that another process has replaced meanwhile, since that need not wait for released claims (see
// LockKind).
func (j *Journal) giveBackClaims(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, j.pace.group)
	defer cancel()
	if err := j.inTransaction(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, commit.SQL("UPDATE documents SET holder = -1, claimed = 0 WHERE {waits} AND holder = $1 AND claimed <> 0"), j.member.me.Load())
		return err
	}); err != nil {
		return fmt.Errorf("give back what was claimed before the connection was lost: %w", err)
	}
	j.notify.tell(report.AllKinds()...)
	return nil
}
