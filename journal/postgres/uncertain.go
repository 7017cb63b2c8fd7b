package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// uncertainClaim is what a Claim has claimed or not: the answer was lost.
type uncertainClaim struct {
	me   int64
	kind report.Kind
	ids  [][]byte
}

// releaseUncertain gives back what was claimed without being given out, because the answer was
// lost: nobody would settle it for as long as this process lives. It runs before the next
// Claim of this process. The caller holds reading.
func (j *Journal) releaseUncertain(ctx context.Context) error {
	for len(j.uncertain) > 0 {
		c := j.uncertain[0]
		err := j.inTransaction(ctx, func(tx pgx.Tx) error {
			// The first statement waits until the transaction of that Claim has ended.
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

// giveBackClaims gives back all that this process has claimed, since the server may have
// been started anew, or another may have taken its place. A settlement does not wait for
// the disk, so such a server may have forgotten it, and still have the claim: nobody would
// settle that again for as long as this process lives. What is on its way just now is
// given out once more: what is said of it counts no more, since it may go to an index that
// another process has replaced meanwhile, which need not wait for it; see LockKind.
func (j *Journal) giveBackClaims(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, j.pace.group)
	defer cancel()
	if err := j.inTransaction(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, commit.SQL("UPDATE documents SET holder = -1, claimed = 0 WHERE state IN ({pending}, {resend}) AND holder = $1 AND claimed <> 0"), j.member.me.Load())
		return err
	}); err != nil {
		return fmt.Errorf("give back what was claimed before the connection was lost: %w", err)
	}
	j.notify.tell(report.AllKinds()...)
	return nil
}
