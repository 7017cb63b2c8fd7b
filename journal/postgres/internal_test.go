package postgres

import (
	"fmt"
	"testing"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/committest"
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
		if _, err := j.Append(ctx, committest.Put(id, "{}")); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := j.Claim(ctx, report.Advisories, 10, 1<<20)
	if err != nil || len(changes) != 2 {
		t.Fatalf("claimed %v, %v; want two changes", changes, err)
	}
	if _, err := j.Append(ctx, committest.Put("1", `{"newer":1}`)); err != nil {
		t.Fatal(err)
	}
	var settlements []report.Settlement
	for _, c := range changes {
		settlements = append(settlements, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
	}
	done := make(chan error, 2)
	j.carryOut([]*commit.Request{
		{Ctx: ctx, Done: done, Run: func(tx *commit.Transaction) error { return tx.Settle(settlements, make([]commit.Claim, 2)) }},
		{Ctx: ctx, Done: done, Run: func(tx *commit.Transaction) error {
			_, _, err := tx.Resend(report.Advisories, "")
			return err
		}},
	})
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	changes, err = j.Claim(ctx, report.Advisories, 10, 1<<20)
	if err != nil || len(changes) != 2 {
		t.Errorf("%d can be claimed, %v; want both", len(changes), err)
	}
}

// TestResendInPieces marks in several transactions what one could mark.
func TestResendInPieces(t *testing.T) {
	j := openPostgresTest(t)
	j.piece = 2
	ctx := t.Context()
	for i := range 7 {
		if _, err := j.Append(ctx, committest.Put(fmt.Sprint(i), "{}")); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := j.Claim(ctx, report.Advisories, 6, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var settlements []report.Settlement
	for _, c := range changes {
		settlements = append(settlements, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
	}
	if err := j.Settle(ctx, settlements); err != nil {
		t.Fatal(err)
	}
	n, err := j.Resend(ctx, report.Advisories)
	if err != nil || n != 6 {
		t.Errorf("%d marked, %v; want 6", n, err)
	}
	if changes, err = j.Claim(ctx, report.Advisories, 10, 1<<20); err != nil || len(changes) != 7 {
		t.Errorf("%d can be claimed, %v; want 7", len(changes), err)
	}
}
