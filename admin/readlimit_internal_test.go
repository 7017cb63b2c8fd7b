package admin

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"riskdex/internal/testkit/metricstest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestReadsAreBounded: as many calls as may are handled, others wait for their turn, and are
// refused where it does not come.
func TestReadsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, end := make(readLimit, 2), make(chan struct{})
		var mu sync.Mutex // of both
		inside, most := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			inside += n
			most = max(most, inside)
		}
		h := limit.bound(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			count(1)
			defer count(-1)
			<-end
		}))
		ask := func(ctx context.Context) <-chan int {
			status := make(chan int, 1)
			go func() {
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
				status <- rec.Code
			}()
			synctest.Wait()
			return status
		}
		first, second := ask(t.Context()), ask(t.Context())
		began := time.Now()
		if got := <-ask(t.Context()); got != http.StatusServiceUnavailable || time.Since(began) != readTimeout {
			t.Errorf("a third call is answered %d after %v", got, time.Since(began))
		}
		ctx, leave := context.WithCancel(t.Context())
		left, third := ask(ctx), ask(t.Context())
		leave()
		<-left
		close(end)
		for _, status := range []<-chan int{first, second, third} {
			if got := <-status; got != http.StatusOK {
				t.Errorf("answered %d", got)
			}
		}
		if most != 2 || len(limit) != 0 {
			t.Errorf("%d calls at a time, and %d places are taken", most, len(limit))
		}
	})
}

// gate is a journal in which lookups wait.
type gate struct {
	Journal
	Histories
	inside atomic.Int32
	open   chan struct{}
}

func (g *gate) Documents(context.Context, report.Kind) (int, error) { return 0, nil }

func (g *gate) wait() error {
	g.inside.Add(1)
	defer g.inside.Add(-1)
	<-g.open
	return report.ErrNotFound
}

func (g *gate) Document(context.Context, report.Kind, report.ID) (report.Document, error) {
	return report.Document{}, g.wait()
}

func (g *gate) Entries(context.Context, report.Kind, report.ID, int) ([]report.Entry, error) {
	return nil, g.wait()
}

func (g *gate) Lookup(context.Context, report.Kind, []report.ID) ([]report.Entry, error) {
	return nil, g.wait()
}

func (g *gate) Delivered(context.Context, report.DeliveryName, report.Version, int) (report.DeliveredPage, error) {
	return report.DeliveredPage{}, g.wait()
}

// TestLookupsAreBounded together, whichever call they are for, and counted.
func TestLookupsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		reg := prometheus.NewRegistry()
		h := New(Parts{Log: slog.New(slog.DiscardHandler), Documents: g, Histories: g, Reads: NewReadMetrics(reg), Status: StatusParts{Journal: g}})
		for range mostLookups {
			for _, path := range []string{"/api/document?kind=cities&id=1", "/api/history?kind=cities&id=1", "/api/delivery?name=" + (report.DeliveryName{First: 1, Last: 1, Changes: 1}).String()} {
				go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil))
			}
		}
		synctest.Wait()
		if n := g.inside.Load(); n != mostLookups {
			t.Errorf("%d lookups at a time, want %d", n, mostLookups)
		}
		time.Sleep(readTimeout)
		synctest.Wait() // those that wait give up first, and take no place that becomes free
		close(g.open)
		synctest.Wait()
		rec := httptest.NewRecorder()
		promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
		samples, err := metricstest.Read(rec.Body)
		require.NoError(t, err)
		for code, want := range map[string]float64{"404": mostLookups, "503": 2 * mostLookups, "200": 0} {
			if n, _ := samples.Sum("riskdex_lookups_total", fmt.Sprintf(`code=%q`, code)); n != want {
				t.Errorf("%v lookups are counted as answered with %s, want %v", n, code, want)
			}
		}
	})
}
