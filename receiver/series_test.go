package receiver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// series returns every series with its value.
func (d *endpoint) series() map[string]float64 {
	d.t.Helper()
	families, err := d.reg.Gather()
	if err != nil {
		d.t.Fatal(err)
	}
	all := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			all[family.GetName()+" "+strings.Join(labels, " ")] = m.GetCounter().GetValue()
		}
	}
	return all
}

// fainting is a journal that panics.
type fainting struct{}

func (fainting) Append(context.Context, report.Delivery) ([]report.Stamp, error) { panic("a test") }

// TestEveryAnswerIsCountedWhereItWasAtZero makes the receiver give every answer that it
// has. No series appears by that, and no series from the start stays unused.
func TestEveryAnswerIsCountedWhereItWasAtZero(t *testing.T) {
	results := waitsFor(t)
	d := open(t, func(c *Config) { c.MaxBody = 1000; c.Prefix = "/api"; c.Await = allShown })
	start := d.series()
	long := strings.Repeat("x", report.MaxIDBytes+1)
	methods := []string{"POST", "PUT", "DELETE", "PATCH", "GET"}
	for _, kind := range report.Kinds() {
		path := "/api/" + string(kind)
		for _, body := range []string{
			`{"id":1}`, `{"id":`, `{"title":"x"}`, `[]`, `{"id":"` + long + `"}`, `{"id":"\ud800"}`, `{"t":"` + strings.Repeat("x", 1000) + `"}`,
		} {
			d.send("POST", path, body)
			d.send("PUT", path+"/1", body)
		}
		d.send("PUT", path+"/1", "null")
		d.send("PUT", path+"/1", `{"id":2}`)
		d.send("PUT", path+"/1", "t=1", "Content-Type", "application/x-www-form-urlencoded")
		for _, encoding := range []string{"br", "gzip"} {
			d.send("POST", path, "{}", "Content-Encoding", encoding)
			d.send("PUT", path+"/1", `{"t":1}`, "Content-Encoding", encoding)
		}
		d.send("DELETE", path+"/1", "")
		for _, call := range [][2]string{{"POST", ""}, {"PUT", "/1"}, {"DELETE", "/1"}} {
			d.send(call[0], path+call[1], `{"id":1}`, "Prefer", "wait=1")
			d.send(call[0], path+call[1], `{"id":1}`, "If-Match", "W/1")
		}
		d.send("DELETE", path+"/unknown", "")
		d.send("DELETE", path+"/ambiguous", "")
		for _, id := range []string{long, "%FF"} {
			d.send("PUT", path+"/"+id, `{"t":1}`)
			d.send("DELETE", path+"/"+id, "")
		}
		d.breakOff(path)
		for _, method := range methods {
			d.send(method, path+"/1/2", "{}")
			d.send(method, path, "")
			d.send(method, path+"/1", "")
		}
		for _, d.err = range []error{errors.New("no disk"), report.ErrGone, report.ErrNoRoom, context.DeadlineExceeded} {
			d.send("POST", path, `{"id":1}`)
			d.send("PUT", path+"/1", `{"t":1}`)
			d.send("DELETE", path+"/1", "")
		}
		d.err = nil
	}
	for _, method := range methods {
		d.send(method, "/api/countries", "{}")
		d.send(method, "/elsewhere", "{}")
		d.raw(method + " * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	}
	// The same metrics, now of a receiver that fails.
	real := d.reg
	defer func() { d.reg = real }()
	faults := prometheus.NewRegistry()
	r, err := New(DefaultConfig(), fainting{}, time.Now, faults, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	after := d.series()
	d.url, d.reg = server.URL, faults
	for method, path := range map[string]string{"POST": "/cities", "PUT": "/cities/1", "DELETE": "/cities/1", "PATCH": "/cities/1"} {
		if got := d.send(method, path, `{"id":1}`); got.status != http.StatusInternalServerError {
			t.Errorf("%s %s to a receiver that fails is answered %+v, want 500", method, path, got)
		}
	}
	for series, n := range d.series() {
		after[series] += n
	}
	for _, others := range slices.Concat(guardedSeries(t), boundedSeries(t), busySeries(t), []map[string]float64{results}) {
		for series, n := range others {
			after[series] += n
		}
	}
	for series, n := range after {
		if _, was := start[series]; !was {
			t.Errorf("the series %s appeared with an answer", series)
		}
		if n == 0 {
			t.Errorf("the series %s stayed at 0, although this test makes a request for each answer", series)
		}
	}
}

// breakOff makes a delivery whose body ends too early.
func (d *endpoint) breakOff(path string) {
	d.t.Helper()
	for _, start := range []string{"POST " + path, "PUT " + path + "/1"} {
		if status := d.raw(start + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n{"); !slices.Contains([]string{"", "400"}, status) {
			d.t.Errorf("%s broken off: %s", start, status)
		}
	}
}

// raw sends a text, closes the sending side of the connection, and returns the status of
// the answer.
func (d *endpoint) raw(request string) (status string) {
	d.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		d.t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		d.t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		d.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(answer), " ")
	status, _, _ = strings.Cut(rest, " ")
	return status
}
