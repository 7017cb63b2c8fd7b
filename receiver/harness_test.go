package receiver

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// recorder records what the receiver passes on. It replaces the journal, so that these
// tests see a delivery as it leaves the receiver; other tests use the real one.
type recorder struct {
	mu         sync.Mutex
	deliveries []report.Delivery
	ambiguous  []report.Refusal
	err        error
}

func (r *recorder) Append(_ context.Context, d report.Delivery) ([]report.Stamp, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	r.deliveries = append(r.deliveries, d)
	stamps := make([]report.Stamp, len(d.Changes))
	for i, c := range d.Changes {
		stamps[i] = report.Stamp{Key: c.Key, Version: report.Version(i + 1)}
		switch c.ID {
		case "ambiguous":
			r.ambiguous = append(r.ambiguous, d.Ambiguous(i))
			stamps[i] = report.Stamp{Key: c.Key, Effect: report.Ambiguous}
		case "outdated":
			stamps[i] = report.Stamp{Key: c.Key, Effect: report.Outdated}
		case "unknown":
			stamps[i] = report.Stamp{Key: c.Key, Effect: report.Unknown}
		}
		if c.If != nil && !c.If(1, time.Time{}) {
			stamps[i] = report.Stamp{Key: c.Key, Effect: report.Outdated}
		}
	}
	return stamps, nil
}

// changes returns everything accepted so far.
func (r *recorder) changes() []report.Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []report.Change
	for _, d := range r.deliveries {
		all = append(all, d.Changes...)
	}
	return all
}

func (r *recorder) refusals() []report.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []report.Refusal
	for _, d := range r.deliveries {
		all = append(all, d.Refusals...)
	}
	return all
}

// endpoint is a receiver behind a real HTTP server.
type endpoint struct {
	*recorder
	t   *testing.T
	url string
	reg *prometheus.Registry
}

func open(t *testing.T, change func(*Config)) *endpoint {
	t.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	d := &endpoint{recorder: &recorder{}, t: t, reg: prometheus.NewRegistry()}
	now := func() time.Time { return time.Unix(1_800_000_000, 0) }
	r, err := New(cfg, d.recorder, now, d.reg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// reply is an answer, with the members that tests read.
type reply struct {
	status   int
	header   http.Header
	Accepted int
	Reason   string
	Detail   string
	Refused  []refused
	Delivery string

	RefusedTotal int `json:"refused_total"`
	Searchable   *int
	Unknown      []int
}

func (d *endpoint) send(method, path, body string, header ...string) reply {
	d.t.Helper()
	req, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req) // no redirect is followed
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	got := reply{status: res.StatusCode, header: res.Header}
	if err := json.Unmarshal(text, &got); err != nil {
		d.t.Fatalf("%s %s answered %d with %q, which is not JSON: %v", method, path, res.StatusCode, text, err)
	}
	return got
}

// counted returns the sum of a metric over the series that have all of the labels.
func (d *endpoint) counted(name string, labels ...string) float64 {
	d.t.Helper()
	families, err := d.reg.Gather()
	if err != nil {
		d.t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			have := map[string]string{}
			for _, l := range m.GetLabel() {
				have[l.GetName()] = l.GetValue()
			}
			all := true
			for i := 0; i < len(labels); i += 2 {
				all = all && have[labels[i]] == labels[i+1]
			}
			if all {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}
