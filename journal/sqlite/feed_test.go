package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// TestFeedTellsWhatIsDurable and nothing that a power cut would undo.
func TestFeedTellsWhatIsDurable(t *testing.T) {
	j, syncs := slowDisk(t)
	for _, failure := range []error{nil, errors.New("no disk")} {
		appended := appendLater(t, j, journaltest.Put("1", "{}"))
		flushing := within(t, "the flush", syncs)
		told := make(chan error, 1)
		go func() {
			page, err := j.Feed(t.Context(), report.Cursor{Kinds: report.Kinds()}, 10, 100)
			if err == nil && len(page.Changes) != 1 {
				err = fmt.Errorf("%d changes", len(page.Changes))
			}
			told <- err
		}()
		for range 100 {
			select {
			case err := <-told:
				t.Fatalf("the feed told what is not durable, %v", err)
			default:
			}
			_, err := j.Stats(t.Context()) // reading goes on
			require.NoError(t, err)
		}
		flushing <- failure
		if err := within(t, "the feed", told); !errors.Is(err, failure) {
			t.Errorf("the feed ended with %v, want %v", err, failure)
		}
		if err := within(t, "the delivery", appended); !errors.Is(err, failure) {
			t.Errorf("the delivery ended with %v, want %v", err, failure)
		}
	}
}

// TestFeedOfACopyIsAnother: a copy may lack what its journal told since.
func TestFeedOfACopyIsAnother(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	mustAppend(t, j, journaltest.Put("1", "{}"))
	page, err := j.Feed(t.Context(), report.Cursor{Kinds: report.Kinds()}, 10, 100)
	require.NoError(t, err)
	copied := openTest(t, backUp(t, j.path, 1), journal.Options{})
	mustAppend(t, copied, journaltest.Put("2", "{}"))
	if _, err := copied.Feed(t.Context(), page.Next, 10, 100); !errors.Is(err, report.ErrOtherFeed) {
		t.Errorf("a copy goes on with the feed of its journal: %v", err)
	}
}
