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
	if len(q.waiting) != 0 {
		t.Error("its request is still in the queue")
	}
}

func TestGroupsAreBounded(t *testing.T) {
	q := NewQueue()
	for _, size := range []int{MaxGroupBytes + 1, MaxGroupBytes, 1, 0} {
		q.waiting = append(q.waiting, &Request{Bytes: size})
	}
	var sizes []int
	for {
		group, _ := q.Take(nil)
		if len(group) == 0 {
			break
		}
		sizes = append(sizes, len(group))
	}
	if want := []int{1, 2, 1}; !slices.Equal(sizes, want) { // small ones overtake the second
		t.Errorf("groups of %v requests, want %v", sizes, want)
	}

	q.waiting = slices.Repeat([]*Request{{Size: LargeRequest - 1}}, 10)
	if group, _ := q.Take(nil); len(group) != MaxGroupChanges/(LargeRequest-1) {
		t.Errorf("%d requests of %d changes each are in one group", len(group), LargeRequest-1)
	}
	q.waiting = nil

	before := []*Request{{Bytes: MaxGroupBytes - 2}}
	for _, size := range []int{1, 1, 1} {
		q.waiting = append(q.waiting, &Request{Bytes: size})
	}
	if group, _ := q.Take(before); len(group) != 2 || len(q.waiting) != 1 {
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

// TestNeitherStarves: waiting large and small requests take turns.
func TestNeitherStarves(t *testing.T) {
	q := NewQueue()
	for i := range 12 {
		r := &Request{seq: uint64(i), Size: 1}
		if i%3 == 0 {
			r.Size = LargeRequest
			if i > 0 {
				r.Size = MaxGroupChanges
			}
		}
		q.waiting = append(q.waiting, r)
	}
	var got [][]uint64
	for len(q.waiting) > 0 {
		var seqs []uint64
		group, _ := q.Take(nil)
		for _, r := range group {
			seqs = append(seqs, r.seq)
		}
		got = append(got, seqs)
		if last := uint64(20 + len(got)); last < 24 {
			q.waiting = append(q.waiting, &Request{seq: last, Size: 1})
		}
	}
	want := "[[0 1 2] [4 5 7 8 10 11 21] [3] [22 23] [6] [9]]"
	if s := fmt.Sprint(got); s != want {
		t.Errorf("the groups are %s, want %s", s, want)
	}
}

// TestLargeGoesApart: while a large delivery is executed, small requests are taken beside
// it, but none that names one of its documents, and no other large delivery.
func TestLargeGoesApart(t *testing.T) {
	q := NewQueue()
	q.Concurrent = true
	add := func(seq uint64, size int, id report.ID) {
		d := report.Delivery{Changes: []report.Change{{Key: report.Key{Kind: report.Advisories, ID: id}}}}
		q.waiting = append(q.waiting, &Request{seq: seq, Size: size, Scope: NewScope(d)})
	}
	take := func(want string) {
		t.Helper()
		seqs := []uint64{}
		group, _ := q.Take(nil)
		for _, r := range group {
			seqs = append(seqs, r.seq)
		}
		if got := fmt.Sprint(seqs); got != want {
			t.Errorf("the group is %s, want %s", got, want)
		}
	}
	add(0, 1, "a")
	add(1, LargeRequest, "b")
	add(2, 1, "c")
	add(3, LargeRequest, "d")
	add(4, 1, "b")
	add(5, 1, "e")
	take("[0]")
	take("[1]")
	take("[2 5]")
	take("[]")
	q.EndApart()
	take("[4]")
	take("[3]")
	take("[]")
	q.EndApart()
}
