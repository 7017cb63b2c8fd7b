package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"riskdex/admin"
	"riskdex/indexer"
	"riskdex/indexer/verify"
	"riskdex/journal"
	"riskdex/report"
)

// adminVerifier implements admin.Verifier with the indexer's verifier.
type adminVerifier struct {
	verifier *verify.Verifier
	indexer  *indexer.Indexer
	journal  journal.Journal // keeps a note of what was found and not repaired
}

// Verify implements admin.Verifier.
func (v adminVerifier) Verify(ctx context.Context, kind report.Kind, opt admin.VerifyOptions, tell func(admin.VerifyEvent)) (report.VerifyReport, error) {
	v.awaitIndex(ctx, kind)
	r, err := v.verifier.Verify(ctx, kind, verify.Options{
		Repair: opt.Repair, RemoveForeign: opt.RemoveForeign,
		Progress: func(p report.VerifyProgress) {
			tell(admin.VerifyEvent{Progress: &p})
		},
		Found:   func(f report.VerifyFinding) { tell(admin.VerifyEvent{Finding: &f}) },
		Waiting: func(w report.Waiting) { tell(admin.VerifyEvent{Waiting: &w}) },
	})
	if err == nil || r.Wrong() > 0 {
		noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
		defer cancel()
		found := report.Verified{At: time.Now(), Wrong: r.Wrong(), Ordered: r.Ordered - r.Repaired}
		err = errors.Join(err, v.journal.Note(noting, report.VerifiedNote(kind), found.Note()))
	}
	return r.VerifyReport, err
}

// startTimeout bounds how long a verification waits for an index that is being created.
const startTimeout = 30 * time.Second

// awaitIndex waits for the indexer's first look at the index, so that a verification right
// after the first start does not fail because the index is still being created.
func (v adminVerifier) awaitIndex(ctx context.Context, kind report.Kind) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	v.indexer.AwaitFirstCheck(ctx, kind)
}

// noteTimeout bounds how long the journal may take to keep what a verification found.
const noteTimeout = 10 * time.Second

// rebuilder implements admin.Rebuilder with the indexer.
type rebuilder struct{ *indexer.Indexer }

// Rebuild implements admin.Rebuilder.
func (b rebuilder) Rebuild(kind report.Kind) error { return rebuildProblem(b.Indexer.Rebuild(kind)) }

// TakeOver implements admin.Rebuilder.
func (b rebuilder) TakeOver(kind report.Kind) error { return rebuildProblem(b.Indexer.TakeOver(kind)) }

// StopRebuild implements admin.Rebuilder.
func (b rebuilder) StopRebuild(kind report.Kind) error {
	return rebuildProblem(b.Indexer.StopRebuild(kind))
}

func rebuildProblem(err error) error {
	conflict := func(reason string) error {
		return &admin.Problem{Status: http.StatusConflict, Reason: reason, Detail: err.Error()}
	}
	wrong, aliasIsWrong := errors.AsType[*report.WrongAlias](err)
	switch {
	case aliasIsWrong:
		return &admin.Problem{Status: http.StatusConflict, Reason: admin.ReasonAlias, Detail: wrong.Error()}
	case errors.Is(err, indexer.ErrRebuilding):
		return conflict(admin.ReasonRebuilding)
	case errors.Is(err, indexer.ErrNotRebuilding):
		return conflict(admin.ReasonNotRebuilding)
	case errors.Is(err, indexer.ErrSwapping):
		return conflict(admin.ReasonSwapping)
	case errors.Is(err, report.ErrKindLocked):
		return conflict(admin.ReasonHeldElsewhere)
	case errors.Is(err, report.ErrAnotherJournal):
		return &admin.Problem{Status: http.StatusConflict, Reason: admin.ReasonAnotherJournal, Detail: err.Error() + "; to have this journal take over: riskdex rebuild --take-over"}
	case errors.Is(err, report.ErrLossOpen):
		return conflict(admin.ReasonLossOpen)
	case errors.Is(err, report.ErrSeveralClusters):
		return conflict(admin.ReasonClusters)
	case errors.Is(err, indexer.ErrNotRunning):
		return &admin.Problem{Status: http.StatusServiceUnavailable, Detail: err.Error()}
	}
	return err
}
