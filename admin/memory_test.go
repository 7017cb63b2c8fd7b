package admin_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/receiver/body"
	"riskdex/report"
)

// little is memory for bodies of up to 16 KiB. All else is busy.
type little struct{}

func (little) Hold(ctx context.Context, _ int64, _ time.Duration) (context.Context, func()) {
	return report.WithMemory(ctx, little{}), func() {}
}

func (little) Need(bodies int64, wait bool) error {
	switch {
	case bodies <= 16<<10:
		return nil
	case wait:
		return body.ErrBusy
	}
	return report.ErrNoMemory
}

// TestOnlyLargeBodiesWaitForMemory: whatever shows a body takes memory for its length, however large
// others may be. So while large bodies have the memory, small ones are shown.
func TestOnlyLargeBodiesWaitForMemory(t *testing.T) {
	d := openDesk(t)
	small, large := `{"title":"poison"}`, `{"title":"poison","t":"`+strings.Repeat("x", 17<<10)+`"}`
	compared := make(chan struct{})
	close(compared)
	parts := admin.Parts{
		DeadLetters: d.journal, Refusals: d.journal, Receiver: d.receiver, Documents: d.journal, Histories: d.journal,
		Records: d.journal, Changes: d.journal, Compared: compared, Reads: admin.NewReadMetrics(d.metrics),
		MaxBody: 64 << 20, Memory: little{}, Log: slog.New(slog.DiscardHandler),
		Status: admin.StatusParts{Journal: d.journal, Deliveries: new(admin.Deliveries), Now: time.Now},
	}
	server := httptest.NewServer(admin.New(parts))
	t.Cleanup(server.Close)
	for _, size := range []struct {
		id, body string
		status   int
	}{{"1", small, http.StatusOK}, {"2", large, http.StatusServiceUnavailable}} {
		stamps, err := d.journal.Append(t.Context(), report.Delivery{
			Changes:  []report.Change{{Key: report.Key{Kind: report.Cities, ID: report.ID(size.id)}, Op: report.Index, Body: []byte(size.body)}},
			Refusals: []report.Refusal{{Kind: report.Advisories, Method: "PUT", Path: "/advisories/9", ID: "9", Reason: "record_type", Body: []byte(size.body)}},
		})
		require.NoError(t, err)
		d.index()
		kept, err := d.journal.Refusals(t.Context(), 0, 1)
		require.NoError(t, err)
		for _, call := range []string{
			"GET /api/document?kind=cities&id=" + size.id,
			"GET /document?kind=cities&id=" + size.id,
			"GET /api/dead/letter?kind=cities&id=" + size.id,
			fmt.Sprintf("GET /api/history?kind=cities&id=%s&version=%d", size.id, stamps[0].Version),
			"GET /api/export?kind=cities",
			"GET /api/changes?kind=cities",
			fmt.Sprintf("GET /api/refused/delivery?number=%d", kept[0].Seq),
			"POST /api/dead/retry?all=true&kind=cities",
		} {
			method, path, _ := strings.Cut(call, " ")
			req, err := http.NewRequest(method, server.URL+path, nil)
			require.NoError(t, err)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			res.Body.Close()
			if res.StatusCode != size.status {
				t.Errorf("%s of %d bytes is answered %d, want %d", call, len(size.body), res.StatusCode, size.status)
			}
		}
	}
}
