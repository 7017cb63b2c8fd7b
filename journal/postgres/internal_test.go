package postgres

import (
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

func openPostgresTest(t *testing.T) *Journal {
	t.Helper()
	j, err := Open(t.Context(), postgrestest.URL(t), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// TestClaimEndsInOneGroupWithResend: a settlement and the marking of many documents
// sometimes share a transaction.
func TestClaimEndsInOneGroupWithResend(t *testing.T) {
	j := openPostgresTest(t)
	ctx := t.Context()
	for _, id := range []string{"1", "2"} {
		if _, err := j.Append(ctx, journaltest.Put(id, "{}")); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := j.Claim(ctx, report.Advisories, 10, 1<<20)
	if err != nil || len(changes) != 2 {
		t.Fatalf("claimed %v, %v; want two changes", changes, err)
	}
	if _, err := j.Append(ctx, journaltest.Put("1", `{"newer":1}`)); err != nil {
		t.Fatal(err)
	}
	var settlements []report.Settlement
	for _, c := range changes {
		settlements = append(settlements, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
	}
	done := make(chan error, 2)
	j.execute([]*commit.Request{
		{Ctx: ctx, Done: done, Task: task(func(tx *commit.Transaction) error { return tx.Settle(settlements, make([]commit.Claim, 2)) })},
		{Ctx: ctx, Done: done, Task: &commit.Resend{Kind: report.Advisories, Limit: 10}},
	})
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range []string{"the newer version", "the one that is sent again"} {
		changes, err = j.Claim(ctx, report.Advisories, 10, 1<<20)
		if err != nil || len(changes) != 1 {
			t.Errorf("%d can be claimed, %v; want %s", len(changes), err, what)
		}
	}
}

func TestResendInPieces(t *testing.T) {
	j := openPostgresTest(t)
	j.Requests = commit.NewRequests(j.opt, j.queue, commit.Hooks{CheckQuota: j.quotaError, Claim: j.tryClaim, Contents: j.Contents, Piece: 2})
	journaltest.ResendInPieces(t, j)
}
