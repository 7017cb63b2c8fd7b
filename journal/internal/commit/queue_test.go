package commit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"riskdex/report"
)

// TestContextEnds: a request whose caller has left does not stay in the queue.
func TestContextEnds(t *testing.T) {
	q := NewQueue() // without a writer
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- q.Do(ctx, &Request{}) }()
	<-q.Wake
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the request returned %v, want the context's error", err)
	}
	if q.Len() != 0 {
		t.Error("its request is still in the queue")
	}
}

func TestGroupsAreBounded(t *testing.T) {
	q := NewQueue()
	for _, size := range []int{MaxGroupBytes + 1, MaxGroupBytes, 1, 0} {
		q.add(&Request{Bytes: size})
	}
	var sizes []int
	for {
		group, _ := q.Take(nil)
		if len(group) == 0 {
			break
		}
		sizes = append(sizes, len(group))
	}
	if want := []int{1, 1, 2}; !slices.Equal(sizes, want) {
		t.Errorf("groups of %v requests, want %v", sizes, want)
	}

	q = NewQueue()
	for range 10 {
		q.add(&Request{Size: LargeRequest - 1})
	}
	if group, _ := q.Take(nil); len(group) != MaxGroupChanges/(LargeRequest-1) {
		t.Errorf("%d requests of %d changes each are in one group", len(group), LargeRequest-1)
	}
	q = NewQueue()

	before := []*Request{{Bytes: MaxGroupBytes - 2}}
	for _, size := range []int{1, 1, 1} {
		q.add(&Request{Bytes: size})
	}
	if group, _ := q.Take(before); len(group) != 2 || q.Len() != 1 {
		t.Errorf("%d join a group that has space for 2", len(group))
	}
	if group, _ := q.Take(slices.Repeat([]*Request{{}}, maxGroupRequests)); len(group) != 0 {
		t.Errorf("%d join a group that is full", len(group))
	}
}

// TestAnsweredDoesNotWait: a caller who reads the journal after an answer must not be
// refused because of the answered request, even if that took long.
func TestAnsweredDoesNotWait(t *testing.T) {
	q := NewQueue()
	r := &Request{of: q, since: time.Now().Add(-time.Hour), Done: make(chan error)}
	q.unanswered[r] = struct{}{}
	go r.Answer(nil)
	for wait := time.Hour; wait != 0; wait, _ = q.Oldest() {
		runtime.Gosched()
	}
	<-r.Done
}

// arrivals has requests wait in a queue, in the order of their numbers.
type arrivals struct {
	*Queue
	numbers map[*Request]int
}

func (q arrivals) arrive(kind report.Kind, delivery bool, size int) {
	r := &Request{Kind: kind, Size: size}
	if delivery {
		r.Versions = size
	}
	q.numbers[r] = len(q.numbers)
	q.add(r)
}

// takes checks which requests the next group has.
func (q arrivals) takes(t *testing.T, want string) {
	t.Helper()
	numbers := []int{}
	group, _ := q.Take(nil)
	for _, r := range group {
		numbers = append(numbers, q.numbers[r])
	}
	if got := fmt.Sprint(numbers); got != want {
		t.Errorf("the group is %s, want %s", got, want)
	}
}

// TestNeitherStarves: the deliveries of a kind keep their order, and neither those of another kind nor
// settlements wait for more than one of them.
func TestNeitherStarves(t *testing.T) {
	q := arrivals{NewQueue(), map[*Request]int{}}
	for range 3 {
		q.arrive(report.Cities, true, MaxGroupChanges)
	}
	q.arrive(report.Cities, true, 1)
	q.arrive(report.Advisories, true, MaxGroupChanges)
	q.arrive(report.Cities, false, 1)
	q.arrive(report.Advisories, true, 1)
	q.takes(t, "[0]")
	q.arrive(report.SpecialReports, true, 1)
	q.takes(t, "[4]")
	q.takes(t, "[5 7 6]") // and not 1, for which there is no room
	q.arrive(report.SpecialReports, true, 1)
	q.takes(t, "[1]")
	q.arrive(report.Advisories, true, 1)
	q.takes(t, "[8 9]")
	q.takes(t, "[2]")
	q.takes(t, "[3]")
}

// TestLargeGoesApart: while a large delivery is executed, requests of other kinds are taken beside it, but
// none of its own.
func TestLargeGoesApart(t *testing.T) {
	q := arrivals{NewQueue(), map[*Request]int{}}
	q.Concurrent = true
	q.arrive(report.Cities, true, 1)
	q.arrive(report.Cities, true, LargeRequest)
	q.arrive(report.Cities, true, 1)
	q.arrive(report.Cities, false, LargeRequest)
	q.takes(t, "[0 3]")
	q.takes(t, "[1]")
	q.arrive(report.Cities, false, 1)
	q.arrive(report.Advisories, true, 1)
	q.arrive(report.Advisories, true, LargeRequest)
	q.takes(t, "[5]")
	q.takes(t, "[6]")
	q.Close()
	if group, open := q.Take(nil); len(group) != 0 || !open {
		t.Errorf("beside them, the queue gives %d requests, open: %t; want none, and that it is open", len(group), open)
	}
	q.EndApart(report.Cities)
	q.takes(t, "[4 2]")
}
