package verify_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestVerifyBetweenItsReads: whatever happens between two reads, what is in order before
// and after is no finding.
func TestVerifyBetweenItsReads(t *testing.T) {
	for name, c := range map[string]struct {
		hurt func(*indexertest.Rig) // before everything else
		at   string                 // the request at which something happens, by the end of its path
		do   []func(*interloper)    // what happens at the first and at the second of them
		want int                    // under way
	}{
		"the index is lost at the first look":       {at: "/_mget", do: []func(*interloper){lose}},
		"the index is lost at the second look":      {at: "/_mget", do: []func(*interloper){deliver("5"), lose}, want: 1},
		"damage is repaired before the second look": {at: "/_mget", do: []func(*interloper){destroy("5"), deliver("5")}, want: 1},
		"an unknown document goes":                  {plant, "/_search", []func(*interloper){after(destroy("unknown"))}, 0},
		"an unknown document is delivered":          {plant, "/_mget", []func(*interloper){nothing, after(deliver("unknown"))}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := indexertest.Start(t, indexertest.Quick())
			r.Append(indexertest.Many(report.Cities, 30, "text")...)
			r.Drained()
			if c.hurt != nil {
				c.hurt(r)
			}
			var met atomic.Int64
			var holding atomic.Bool
			r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				for indexertest.IsBulk(req) && holding.Load() && req.Context().Err() == nil {
					pause()
				}
				if !strings.HasSuffix(req.URL.Path, c.at) {
					next.ServeHTTP(w, req)
					return
				}
				n := int(met.Add(1))
				if n > len(c.do) {
					next.ServeHTTP(w, req)
					return
				}
				i := &interloper{Rig: r, holding: &holding, request: func() { next.ServeHTTP(w, req) }}
				c.do[n-1](i)
			})
			cfg := indexertest.QuickVerify()
			cfg.Page = 100 // everything is one page
			got, err := r.Verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{})
			require.NoError(t, err)
			if got.Found() != 0 || got.UnderWay != c.want {
				t.Errorf("found %+v, want nothing wrong and the expected number under way", got)
			}
			if n := int(met.Load()); n < len(c.do) {
				t.Errorf("it happened %d times, want %d", n, len(c.do))
			}
			r.Heal()
			r.Drained()
			r.SameAsJournal()
		})
	}
}

// interloper does something while a request of the verification is held back.
type interloper struct {
	*indexertest.Rig
	request func()       // lets the request continue
	holding *atomic.Bool // whether the indexer's bulks are held back
}

func nothing(i *interloper) { i.request() }

// after lets the request continue first, and delays only its answer.
func after(do func(*interloper)) func(*interloper) {
	return func(i *interloper) {
		i.request()
		i.request = func() {}
		do(i)
	}
}

func deliver(id string) func(*interloper) {
	return func(i *interloper) {
		i.Append(indexertest.Index(report.Cities, id, `{"title":"delivered meanwhile"}`))
		i.Drained()
		i.request()
	}
}

func destroy(id string) func(*interloper) {
	return func(i *interloper) {
		i.Change("DELETE", i.Path(id, ""), "")
		i.request()
	}
}

func plant(r *indexertest.Rig) { r.Change("PUT", r.Path("unknown", ""), `{}`) }

// lose deletes the index and has it filled again, but only after the request has met the
// empty one.
func lose(i *interloper) {
	i.holding.Store(true)
	i.Change("DELETE", "/"+i.Indices.Index(report.Cities, 1), "")
	i.Eventually("there is a new index, and it answers", func() bool {
		_, answer := i.Ask("GET", i.Path("5", ""), "")
		return answer["found"] == false
	})
	i.request()
	i.holding.Store(false)
	i.Drained()
}
