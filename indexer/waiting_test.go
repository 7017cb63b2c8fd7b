package indexer

import (
	"testing"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

func TestWaitingIsShownUntilItEnds(t *testing.T) {
	t.Parallel()
	s := newStatusRegistry()
	first := time.Unix(1_800_000_000, 0).UTC()
	s.setWaiting(report.Advisories, "p-advisories", trouble, first)
	s.setWaiting(report.Cities, "p-cities", &judgement{verdict: elastic.Retry, reason: elastic.ReasonUnreachable}, first)
	// Another reason for the same wait: it has lasted since the first.
	s.setWaiting(report.Cities, "p-cities", &judgement{verdict: elastic.Pause, reason: elastic.ReasonClosed, answer: elastic.Answer{ErrorType: "index_closed_exception", Detail: "closed"}}, first.Add(time.Minute))
	all := s.allWaiting()
	want := report.Waiting{Kind: report.Cities, Index: "p-cities", Paused: true, Reason: elastic.ReasonClosed, ErrorType: "index_closed_exception", Detail: "closed", Since: first}
	if len(all) != 2 || all[0] != want || all[1].Kind != report.Advisories {
		t.Fatalf("%+v, want first %+v", all, want)
	}
	s.setWaiting(report.Cities, "p-cities", nil, first.Add(time.Hour))
	s.setWaiting(report.Cities, "p-cities", &judgement{verdict: elastic.Retry, reason: elastic.ReasonUnreachable}, first.Add(2*time.Hour))
	if all = s.allWaiting(); all[0].Paused || !all[0].Since.Equal(first.Add(2*time.Hour)) {
		t.Errorf("a new wait: %+v", all[0])
	}
}
