package postgres

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

func refusalOf(id string) report.Delivery {
	return report.Delivery{Refusals: []report.Refusal{{Kind: report.Advisories, Method: "POST", Path: "/advisories", ID: id, Reason: "r", Body: []byte("not JSON")}}}
}

// TestPostgresRefusalsStayBounded: two processes drop the oldest refusal at the same
// time.
func TestPostgresRefusalsStayBounded(t *testing.T) {
	url := postgrestest.URL(t)
	const most = 50
	var p []*Journal
	for range 2 {
		p = append(p, process(t, url, silent(), journal.Options{MaxRefusals: most}))
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				if _, err := p[i%2].Append(t.Context(), refusalOf("x")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	// Two processes that keep one at the same time may drop the same oldest. The next one
	// makes up for it.
	_, err := p[0].Append(t.Context(), refusalOf("x"))
	require.NoError(t, err)
	if kept := valueOf[int](t, p[0], "SELECT count(*) FROM refusals"); kept > most {
		t.Errorf("%d refusals are kept, of at most %d", kept, most)
	}
	refusalsAreCounted(t, p[0])
}

// TestPostgresDeleteMeetsARetry: another process retries the refusal that creates a
// document, just when a delete has not found the document, and is not to be remembered.
func TestPostgresDeleteMeetsARetry(t *testing.T) {
	_, p := processes(t, 2, silent())
	deliver(t, p[0], journaltest.Put("other", "{}"))
	_, err := p[0].Append(t.Context(), refusalOf(""))
	require.NoError(t, err)
	refused, err := p[0].Refusals(t.Context(), 0, 1)
	require.NoError(t, err)
	execSQL(t, p[0], fmt.Sprintf("UPDATE totals SET tombstones = %d WHERE kind = 'advisories'", journal.MaxRemembered))
	retry, gone := journaltest.Put("1", "{}"), journaltest.Delete("1")
	retry.RetryOf = refused[0].Seq
	var stamps []report.Stamp
	require.NoError(t, p[0].queue.Do(t.Context(), &commit.Request{
		Keys: []report.Key{gone.Changes[0].Key}, Versions: 1, Sync: true,
		Task: task(func(tx *commit.Transaction) (err error) {
			if stamps == nil {
				deliver(t, p[1], retry)
			}
			stamps, err = tx.Deliver(gone, p[0].opt)
			if stamps == nil {
				stamps = []report.Stamp{}
			}
			return err
		}),
	}))
	if len(stamps) != 1 || stamps[0].Effect != report.Changed || stamps[0].Version == 0 {
		t.Errorf("the delete is stamped %+v", stamps)
	}
}

func refusalsAreCounted(t *testing.T, j *Journal) {
	t.Helper()
	for what, counted := range map[string]string{"refusals": "count(*)", "refusal_bytes": "coalesce(sum(bytes), 0)::bigint"} {
		said, kept := valueOf[int](t, j, "SELECT "+what+" FROM meta"), valueOf[int](t, j, "SELECT "+counted+" FROM refusals")
		if said != kept {
			t.Errorf("%s: %d refusals are counted, but %d are kept", what, said, kept)
		}
	}
}

// TestPostgresDeliveryMeetsADroppedRefusal: a good delivery comes while another process
// drops the refusal that the delivery clears.
func TestPostgresDeliveryMeetsADroppedRefusal(t *testing.T) {
	_, p := processes(t, 2, silent())
	_, err := p[1].Append(t.Context(), refusalOf("7"))
	require.NoError(t, err)
	var delivered <-chan error
	require.NoError(t, p[1].queue.Do(t.Context(), &commit.Request{Sync: true, Task: task(func(tx *commit.Transaction) error {
		err := (&commit.DropRefusals{Seqs: []int64{valueOf[int64](t, p[0], "SELECT seq FROM refusals")}}).Execute(tx)
		delivered = later(func(ctx context.Context) error {
			_, err := p[0].Append(ctx, journaltest.Put("7", "{}"))
			return err
		})
		journaltest.Eventually(t, "the delivery waits for it", func() bool { return waitsFor(t, p[1], "transactionid") || len(delivered) > 0 })
		return err
	})}))
	require.NoError(t, <-delivered)
	refusalsAreCounted(t, p[0])
}

// TestPostgresSaysOnceThatRefusalsLostTheirPlace: a transaction that takes refusals their
// place is executed twice.
func TestPostgresSaysOnceThatRefusalsLostTheirPlace(t *testing.T) {
	var log bytes.Buffer
	p := process(t, postgrestest.URL(t), silent(), journal.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	deliver(t, p, journaltest.Put("other", "{}"))
	_, err := p.Append(t.Context(), refusalOf(""))
	require.NoError(t, err)
	execSQL(t, p, fmt.Sprintf("UPDATE totals SET tombstones = %d WHERE kind = 'advisories'", journal.MaxRemembered))
	tries := 0
	require.NoError(t, p.queue.Do(t.Context(), &commit.Request{Versions: 1, Sync: true, Task: task(func(tx *commit.Transaction) error {
		if _, err := tx.Deliver(journaltest.Delete("1"), p.opt); err != nil {
			return err
		}
		if tries++; tries < 3 {
			return &pgconn.PgError{Code: deadlock}
		}
		return nil
	})}))
	if said := strings.Count(log.String(), "cannot be retried any more"); tries != 3 || said != 1 {
		t.Errorf("%d attempts, and %d messages, want one:\n%s", tries, said, &log)
	}
}
