package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/committest"
)

// underTest opens an empty journal for the tests that both engines pass.
func underTest(t *testing.T) committest.UnderTest {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	return committest.UnderTest{Journal: j, Queue: j.queue, FillUp: func() {
		require.NoError(t, j.queue.Do(t.Context(), &commit.Request{Sync: true, Run: func(*commit.Transaction) error { j.quota.max, j.testWriteEvery = 1, time.Hour; return nil }}))
	}}
}

func TestSmallOvertakesLarge(t *testing.T) { committest.SmallOvertakesLarge(t, underTest) }

func TestNewerDoesNotOvertakeOlder(t *testing.T) { committest.NewerDoesNotOvertakeOlder(t, underTest) }

func TestRefusalIsNotOvertaken(t *testing.T) { committest.RefusalIsNotOvertaken(t, underTest) }

func TestManyCitiesOfOneCode(t *testing.T) { committest.ManyCitiesOfOneCode(t, underTest) }

func TestOnlyWhatFreesSpaceIsAcceptedPastTheLimit(t *testing.T) {
	committest.OnlyWhatFreesSpaceIsAcceptedPastTheLimit(t, underTest)
}
