package follow

import (
	"context"
	"testing"
	"time"

	"riskdex/report"
)

// index is an index that keeps a checkpoint. Nothing can be read from its feed.
type index struct{ checkpoint string }

func (x *index) Checkpoint(context.Context, report.Kind) (string, error) { return x.checkpoint, nil }

func (x *index) SetCheckpoint(_ context.Context, _ report.Kind, cursor string) error {
	x.checkpoint = cursor
	return nil
}

func (x *index) Feed(ctx context.Context, _ report.Cursor, _ bool) (report.FeedPage, error) {
	<-ctx.Done()
	return report.FeedPage{}, ctx.Err()
}

func (x *index) Documents(report.Kind) int { return 0 }

// opened returns a journal, its window of cities, and the index that it keeps its checkpoint in.
func opened(t *testing.T) (*Journal, *window, *index) {
	t.Helper()
	x := &index{}
	j, err := Open(t.Context(), x, x)
	if err != nil {
		t.Fatal(err)
	}
	return j, j.windows[report.Cities], x
}

// TestCheckpointIsKeptInANewIndex, also if it is that of the index before: otherwise every start
// would send everything until something is delivered.
func TestCheckpointIsKeptInANewIndex(t *testing.T) {
	j, w, x := opened(t)
	fill := func() (checkpoint string) {
		w.add(pageOf(told("X", 1)), time.Now())
		for _, c := range w.claim(1, 100, time.Now()) {
			w.settle(report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed}, time.Now())
		}
		j.keepCheckpoint(t.Context(), report.Cities, w)
		return x.checkpoint
	}
	first := fill()
	x.checkpoint = "" // the index was lost, and made anew
	if _, err := report.ResendAll(t.Context(), j, report.Cities); err != nil {
		t.Fatal(err)
	}
	j.keepCheckpoint(t.Context(), report.Cities, w)
	if x.checkpoint != "" {
		t.Errorf("the new index has the checkpoint %s before anything is sent to it", x.checkpoint)
	}
	if second := fill(); second != first || first == "" {
		t.Errorf("the new index has the checkpoint %q, want %q", second, first)
	}
}

// TestStaleIndexKeepsNoCheckpoint: the index has documents whose delete nobody tells any more. Until a
// rebuild has begun, whoever goes on from a checkpoint in it would not find that out.
func TestStaleIndexKeepsNoCheckpoint(t *testing.T) {
	for _, cause := range []error{report.ErrCursorTooOld, report.ErrOtherFeed} {
		j, w, x := opened(t)
		fill := func(version report.Version) {
			w.add(pageOf(told("X", version)), time.Now())
			for _, c := range w.claim(1, 100, time.Now()) {
				w.settle(report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed}, time.Now())
			}
			j.keepCheckpoint(t.Context(), report.Cities, w)
		}
		fill(1)
		old := x.checkpoint
		j.begin(w, report.Cursor{Kinds: w.read.Kinds}, cause)
		if j.State(report.Cities).Anew != nil {
			t.Error("a window that has begun elsewhere since is begun anew")
		}
		j.begin(w, w.read, cause)
		fill(2)
		stale := cause == report.ErrCursorTooOld
		if s := j.State(report.Cities); s.Stale != stale || s.Anew == nil {
			t.Errorf("%v: the state is %+v", cause, s)
		}
		if kept := x.checkpoint != old; kept == stale {
			t.Errorf("%v: a checkpoint is kept: %v", cause, kept)
		}
		if _, err := report.ResendAll(t.Context(), j, report.Cities); err != nil {
			t.Fatal(err)
		}
		fill(3)
		if j.State(report.Cities).Stale || x.checkpoint == old {
			t.Errorf("%v: once everything is sent to a new index, no checkpoint is kept", cause)
		}
	}
}

// TestRaiseOfAnotherClaimIsIgnored: the feed was begun anew while a version was on its way, and a
// newer one overtook it. That one is not refused, and neither is the next.
func TestRaiseOfAnotherClaimIsIgnored(t *testing.T) {
	j, w, _ := opened(t)
	claim := func(version report.Version) report.Change {
		w.add(pageOf(told("X", version)), time.Now())
		list := w.claim(1, 100, time.Now())
		if len(list) != 1 || list[0].Version != version {
			t.Fatalf("claimed %v, want version %d", list, version)
		}
		return list[0]
	}
	settle := func(c report.Change) {
		if err := j.Settle(t.Context(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: report.Indexed}}); err != nil {
			t.Fatal(err)
		}
	}
	pass := func(old report.Change, index report.Version) {
		if _, err := j.RaiseVersions(t.Context(), []report.Ahead{{Stamp: report.Stamp{Key: old.Key, Version: old.Version}, Index: index}}); err != nil {
			t.Fatal(err)
		}
	}
	old := claim(5)
	if _, err := report.ResendAll(t.Context(), j, report.Cities); err != nil {
		t.Fatal(err)
	}
	newer := claim(7)
	pass(old, 7) // while the newer one is on its way
	settle(newer)
	if len(w.refused) != 0 || len(w.documents) != 0 {
		t.Fatalf("refused are %v, waiting %d; want neither", w.refused, len(w.documents))
	}
	pass(old, 7) // after it
	settle(claim(9))
	if len(w.refused) != 0 || len(w.documents) != 0 {
		t.Errorf("after the next version, refused are %v, waiting %d; want neither", w.refused, len(w.documents))
	}
}
