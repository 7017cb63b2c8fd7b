package indexer_test

import (
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/networktest"
	"riskdex/internal/testkit/torture"
)

// TestNetworkFaultsLoseNothing disturbs the network under load, lets it heal, and
// compares the index with a ledger.
func TestNetworkFaultsLoseNothing(t *testing.T) {
	for name, c := range map[string]struct {
		direction networktest.Direction
		fault     networktest.Fault
		slow      bool // it only slows down: nothing fails
		unseen    bool // nothing fails before it heals
	}{
		"answers late":            {direction: networktest.ToClient, fault: networktest.Late(150*time.Millisecond, 100*time.Millisecond), slow: true},
		"requests late":           {direction: networktest.ToServer, fault: networktest.Late(150*time.Millisecond, 100*time.Millisecond), slow: true},
		"answers in slices":       {direction: networktest.ToClient, fault: networktest.Slices(128, 50*time.Microsecond), slow: true},
		"requests in slices":      {direction: networktest.ToServer, fault: networktest.Slices(512, 50*time.Microsecond), slow: true},
		"narrow":                  {direction: networktest.ToServer, fault: networktest.Narrow(200_000), slow: true},
		"reset at once":           {direction: networktest.ToServer, fault: networktest.Reset(0)},
		"reset before the answer": {direction: networktest.ToClient, fault: networktest.Reset(20 * time.Millisecond)},
		"request cut":             {direction: networktest.ToServer, fault: networktest.Limit(3000)},
		"answer cut":              {direction: networktest.ToClient, fault: networktest.Limit(700)},
		"no byte of an answer":    {direction: networktest.ToClient, fault: networktest.Limit(0)},
		"half open to the server": {direction: networktest.ToServer, fault: networktest.Swallow(300 * time.Millisecond)},
		"half open to riskdex":    {direction: networktest.ToClient, fault: networktest.Swallow(300 * time.Millisecond)},
		"half open until healed":  {direction: networktest.ToClient, fault: networktest.Swallow(0), unseen: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, through := networktest.New(t, elastictest.URL(t))
			r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Client: through})
			r.Run()
			l, stop := r.load(3)
			// Every index exists, so that the fault hits bulks.
			r.Eventually("some are indexed", func() bool { return r.Metric("riskdex_settle_seconds") > 100 })
			failed := r.Metric("riskdex_failures_total")
			network.Spoil(c.direction, c.fault)
			l.atLeast(r, int64(torture.Extent(150, 3000)))
			if c.slow {
				before := r.Metric("riskdex_settle_seconds")
				r.Eventually("changes are settled all the same", func() bool { return r.Metric("riskdex_settle_seconds") > before+100 })
			} else if !c.unseen {
				r.Eventually("the fault hits a request", func() bool { return r.Metric("riskdex_failures_total", "reason", "unreachable") >= failed+5 })
			}
			network.Heal()
			l.atLeast(r, 100)
			stop()
			l.check(r)
			t.Logf("%d acknowledged, %v attempts failed, %v superseded", l.Acknowledged(), r.Metric("riskdex_failures_total"), r.superseded())
		})
	}
}

// TestNetworkThatComesAndGoes repeatedly cuts every connection and refuses new ones for a
// moment.
func TestNetworkThatComesAndGoes(t *testing.T) {
	t.Parallel()
	network, through := networktest.New(t, elastictest.URL(t))
	r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Client: through})
	r.Run()
	l, stop := r.load(3)
	rounds := torture.Extent(5, 200)
	for range rounds {
		l.atLeast(r, 50)
		failed := r.Metric("riskdex_failures_total", "reason", "unreachable")
		network.Cut()
		r.Eventually("it is noticed", func() bool { return r.Metric("riskdex_failures_total", "reason", "unreachable") > failed })
		network.Restore()
		r.Eventually("it goes on", func() bool { return r.Indexer.ElasticsearchUp() })
	}
	stop()
	l.check(r)
	t.Logf("%d acknowledged, %d cuts, %v attempts failed", l.Acknowledged(), rounds, r.Metric("riskdex_failures_total"))
}

// TestAnswersThatNeverCome: connections stay open and silent until riskdex gives up the
// request.
func TestAnswersThatNeverCome(t *testing.T) {
	t.Parallel()
	if !torture.Wanted() {
		t.Skip("takes as long as riskdex waits for an answer: part of make torture")
	}
	network, through := networktest.New(t, elastictest.URL(t))
	r := assembleOf(t, indexertest.Quick(), indexertest.Parts{Client: through})
	r.Run()
	l, stop := r.load(1)
	l.atLeast(r, 100)
	stop()
	r.Drained()
	network.Spoil(networktest.ToClient, networktest.Swallow(0))
	stop = r.loadInto(l, 1)
	l.atLeast(r, 100)
	stop()
	began := time.Now()
	for r.Metric("riskdex_failures_total", "reason", "unreachable") == 0 {
		if time.Since(began) > 5*time.Minute {
			t.Fatal("the request was never given up")
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("given up after %v", time.Since(began).Round(time.Second))
	network.Heal()
	l.check(r)
}
