package indexer_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"riskdex/internal/elasticserver/elastictest"
	"riskdex/internal/torture"
)

// network is the way to Elasticsearch, which can be spoilt below HTTP.
type network struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	target, err := url.Parse(elastictest.URL(t))
	must(t, err)
	zerolog.SetGlobalLevel(zerolog.Disabled) // some faults log by themselves
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	n := &network{t, toxiproxy.NewProxy(server, t.Name(), "127.0.0.1:0", target.Host)}
	must(t, n.proxy.Start())
	t.Cleanup(n.proxy.Stop)
	return n
}

func (n *network) url() string { return "http://" + n.proxy.Listen }

// spoil adds a fault, such as `{"type":"latency","attributes":{"latency":100}}`.
func (n *network) spoil(toxic string) {
	n.t.Helper()
	_, err := n.proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
	must(n.t, err)
}

func (n *network) heal() { n.proxy.Toxics.ResetToxics(context.Background()) }

// TestNetworkFaultsLoseNothing spoils the network under load, lets it heal, and
// compares the index with a ledger.
func TestNetworkFaultsLoseNothing(t *testing.T) {
	for name, c := range map[string]struct {
		toxic  string
		slow   bool // it only slows down: nothing fails
		unseen bool // nothing fails before it heals
	}{
		"answers late":            {toxic: `{"type":"latency","attributes":{"latency":150,"jitter":100}}`, slow: true},
		"requests late":           {toxic: `{"type":"latency","stream":"upstream","attributes":{"latency":150,"jitter":100}}`, slow: true},
		"answers in slices":       {toxic: `{"type":"slicer","attributes":{"average_size":64,"size_variation":32,"delay":50}}`, slow: true},
		"requests in slices":      {toxic: `{"type":"slicer","stream":"upstream","attributes":{"average_size":256,"size_variation":64,"delay":50}}`, slow: true},
		"narrow":                  {toxic: `{"type":"bandwidth","stream":"upstream","attributes":{"rate":200}}`, slow: true},
		"reset at once":           {toxic: `{"type":"reset_peer","stream":"upstream","attributes":{"timeout":0}}`},
		"reset before the answer": {toxic: `{"type":"reset_peer","attributes":{"timeout":20}}`},
		"request cut":             {toxic: `{"type":"limit_data","stream":"upstream","attributes":{"bytes":3000}}`},
		"answer cut":              {toxic: `{"type":"limit_data","attributes":{"bytes":700}}`},
		"no byte of an answer":    {toxic: `{"type":"limit_data","attributes":{"bytes":0}}`},
		"half open to the server": {toxic: `{"type":"timeout","stream":"upstream","attributes":{"timeout":300}}`},
		"half open to riskdex":    {toxic: `{"type":"timeout","attributes":{"timeout":300}}`},
		"half open until healed":  {toxic: `{"type":"timeout","attributes":{"timeout":0}}`, unseen: true},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(t)
			r := assembleOf(t, quick(), parts{client: n.url()})
			r.run()
			l, stop := r.load(3)
			// Every index is there, so that the fault meets bulks.
			r.eventually("some are indexed", func() bool { return r.metric("riskdex_settle_seconds") > 100 })
			failed := r.metric("riskdex_failures_total")
			n.spoil(c.toxic)
			l.atLeast(r, int64(torture.Extent(150, 3000)))
			if c.slow {
				before := r.metric("riskdex_settle_seconds")
				r.eventually("changes are settled all the same", func() bool { return r.metric("riskdex_settle_seconds") > before+100 })
			} else if !c.unseen {
				r.eventually("the fault bites", func() bool { return r.metric("riskdex_failures_total", "reason", "unreachable") >= failed+5 })
			}
			n.heal()
			l.atLeast(r, 100)
			stop()
			l.check(r)
			t.Logf("%d acknowledged, %v attempts failed, %v superseded", l.Acknowledged(), r.metric("riskdex_failures_total"), r.superseded())
		})
	}
}

// TestNetworkThatComesAndGoes cuts every connection, and refuses new ones for a
// moment, again and again.
func TestNetworkThatComesAndGoes(t *testing.T) {
	n := newNetwork(t)
	r := assembleOf(t, quick(), parts{client: n.url()})
	r.run()
	l, stop := r.load(3)
	rounds := torture.Extent(5, 200)
	for range rounds {
		l.atLeast(r, 50)
		failed := r.metric("riskdex_failures_total", "reason", "unreachable")
		n.proxy.Stop()
		r.eventually("it is noticed", func() bool { return r.metric("riskdex_failures_total", "reason", "unreachable") > failed })
		must(t, n.proxy.Start())
		r.eventually("it goes on", func() bool { return r.indexer.ElasticsearchUp() })
	}
	stop()
	l.check(r)
	t.Logf("%d acknowledged, %d cuts, %v attempts failed", l.Acknowledged(), rounds, r.metric("riskdex_failures_total"))
}

// TestAnswersThatNeverCome has connections that stay open and silent until
// riskdex itself gives the request up.
func TestAnswersThatNeverCome(t *testing.T) {
	if !torture.Wanted() {
		t.Skip("takes as long as riskdex waits for an answer: part of make torture")
	}
	n := newNetwork(t)
	r := assembleOf(t, quick(), parts{client: n.url()})
	r.run()
	l, stop := r.load(1)
	l.atLeast(r, 100)
	stop()
	r.drained()
	n.spoil(`{"type":"timeout","attributes":{"timeout":0}}`)
	stop = r.loadInto(l, 1)
	l.atLeast(r, 100)
	stop()
	began := time.Now()
	for r.metric("riskdex_failures_total", "reason", "unreachable") == 0 {
		if time.Since(began) > 5*time.Minute {
			t.Fatal("the request was never given up")
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("given up after %v", time.Since(began).Round(time.Second))
	n.heal()
	l.check(r)
}
