package follow

import (
	"context"
	"testing"
	"time"

	"riskdex/journal/journaltest"
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

// TestCheckpointIsKeptInANewIndex, also if it is that of the index before: otherwise every start
// would send everything until something is delivered.
func TestCheckpointIsKeptInANewIndex(t *testing.T) {
	x := &index{}
	j, err := Open(t.Context(), x, x)
	if err != nil {
		t.Fatal(err)
	}
	w := j.windows[report.Cities]
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
	if _, err := journaltest.ResendAll(t.Context(), j, report.Cities); err != nil {
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
