package postgres

import (
	"testing"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/journal/internal/committest"
)

// underTest opens an empty journal for the tests that both engines pass.
func underTest(t *testing.T) committest.UnderTest {
	j := process(t, postgrestest.URL(t), silent(), journal.Options{})
	return committest.UnderTest{Journal: j, Queue: j.queue, FillUp: func() {
		j.opt.MaxBytes = 1
		_, err := j.measure(t.Context())
		require.NoError(t, err)
	}}
}

func TestSmallOvertakesLarge(t *testing.T) { committest.SmallOvertakesLarge(t, underTest) }

func TestNewerDoesNotOvertakeOlder(t *testing.T) { committest.NewerDoesNotOvertakeOlder(t, underTest) }

func TestRefusalIsNotOvertaken(t *testing.T) { committest.RefusalIsNotOvertaken(t, underTest) }

func TestManyCitiesOfOneCode(t *testing.T) { committest.ManyCitiesOfOneCode(t, underTest) }

func TestOnlyWhatFreesSpaceIsAcceptedPastTheLimit(t *testing.T) {
	committest.OnlyWhatFreesSpaceIsAcceptedPastTheLimit(t, underTest)
}
