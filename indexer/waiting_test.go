package indexer

import (
	"testing"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

func TestWaitingIsShownUntilItEnds(t *testing.T) {
	b := newBoard()
	first := time.Unix(1_800_000_000, 0)
	b.wait(report.Advisories, "p-advisories", trouble, first)
	b.wait(report.Cities, "p-cities", &judgement{verdict: elastic.Retry, reason: elastic.ReasonUnreachable}, first)
	// Another reason for the same wait: it has lasted since the first.
	b.wait(report.Cities, "p-cities", &judgement{verdict: elastic.Pause, reason: elastic.ReasonClosed, answer: elastic.Answer{ErrorType: "index_closed_exception", Detail: "closed"}}, first.Add(time.Minute))
	all := b.allWaiting()
	want := Waiting{Kind: report.Cities, Index: "p-cities", Held: true, Reason: elastic.ReasonClosed, ErrorType: "index_closed_exception", Detail: "closed", Since: first}
	if len(all) != 2 || all[0] != want || all[1].Kind != report.Advisories {
		t.Fatalf("%+v, want first %+v", all, want)
	}
	b.wait(report.Cities, "p-cities", nil, first.Add(time.Hour))
	b.wait(report.Cities, "p-cities", &judgement{verdict: elastic.Retry, reason: elastic.ReasonUnreachable}, first.Add(2*time.Hour))
	if all = b.allWaiting(); all[0].Held || !all[0].Since.Equal(first.Add(2*time.Hour)) {
		t.Errorf("a new wait: %+v", all[0])
	}
}
