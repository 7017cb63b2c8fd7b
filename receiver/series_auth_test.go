package receiver

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/receiver/auth"
	"riskdex/report"
)

// guardedSeries makes authenticators refuse requests for each of their causes, and
// returns the series of each receiver.
func guardedSeries(t *testing.T) (all []map[string]float64) {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	token, key := secretFile(t, "a-token-of-the-publisher"), secretFile(t, webhookKey)
	gone := secretFile(t, "a-token-of-the-publisher")
	signed := auth.Config{WebhookFiles: key}
	for _, c := range []struct {
		cfg  auth.Config
		id   string // if not empty, signs with it
		age  time.Duration
		body string
		err  error // of the journal
		want int
	}{
		{auth.Config{BearerFiles: token}, "", 0, "{}", nil, http.StatusUnauthorized},
		{auth.Config{BearerFiles: token}, "another token", 0, "{}", nil, http.StatusUnauthorized},
		{signed, "another key", 0, "{}", nil, http.StatusUnauthorized},
		{signed, "", 0, "{}", nil, http.StatusUnauthorized},
		{signed, "msg_1", time.Hour, "{}", nil, http.StatusUnauthorized},
		{auth.Config{AllowFrom: []string{"192.0.2.1"}}, "", 0, "{}", nil, http.StatusForbidden},
		{auth.Config{ClientCAFiles: secretFile(t, authority)}, "", 0, "{}", nil, http.StatusForbidden},
		{auth.Config{BearerFiles: gone}, "", 0, "{}", nil, http.StatusServiceUnavailable},
		{signed, "msg_1", 0, strings.Repeat("x", 1001), nil, http.StatusRequestEntityTooLarge},
		{signed, "msg_1", 0, `{"id":1}`, report.ErrIDReused, 0},
		{signed, "broken off", 0, "{", nil, 0},
		{auth.Config{}, "of a page", 0, "{}", nil, http.StatusForbidden},
	} {
		cfg := Config{MaxBody: 1000}
		d := &endpoint{recorder: &recorder{err: c.err}, t: t, reg: prometheus.NewRegistry()}
		var err error
		if cfg.Authenticator, err = auth.New(c.cfg, clock, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		r, err := New(cfg, d.recorder, clock, d.reg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(r)
		defer server.Close()
		d.url = server.URL
		if len(c.cfg.BearerFiles) > 0 && c.cfg.BearerFiles[0] == gone[0] {
			if err := os.Remove(gone[0]); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
		}
		credentials, err := auth.NewCredentials(signed, func() time.Time { return now.Add(-c.age) })
		if err != nil {
			t.Fatal(err)
		}
		shown := http.Header{}
		if c.id != "" {
			credentials.Show(shown, strings.ReplaceAll(c.id, " ", "_"), []byte(c.body))
		}
		var header []string
		for name := range shown {
			header = append(header, name, shown.Get(name))
		}
		switch c.id {
		case "another token":
			header = append(header, "Authorization", "Bearer another-token")
		case "another key":
			header = append(header, "Webhook-Signature", "v1,AAAA") // the last one counts
		}
		if c.id == "of a page" {
			header = append(header, "Origin", "http://evil.example")
		}
		for _, kind := range append(report.Kinds(), "nowhere") {
			for method, path := range map[string]string{"POST": "/" + string(kind), "PUT": "/" + string(kind) + "/1", "DELETE": "/" + string(kind) + "/1", "PATCH": "/" + string(kind)} {
				if c.id == "broken off" {
					lines := method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n"
					for name := range shown {
						lines += name + ": " + shown.Get(name) + "\r\n"
					}
					d.raw(lines + "\r\n{")
				} else if got := d.send(method, path, c.body, header...); c.want != 0 && got.status != c.want {
					t.Errorf("%s %s: %+v, want %d", method, path, got, c.want)
				}
			}
		}
		all = append(all, d.series())
	}
	return all
}

// The key of authority was thrown away, so that it has signed no certificate.
const authority = `-----BEGIN CERTIFICATE-----
MIIBWDCB/6ADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMTCWF1dGhvcml0
eTAeFw0yMzExMTQyMjEzMjBaFw0zMDAzMTcxNzQ2NDBaMBQxEjAQBgNVBAMTCWF1
dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABO4CY2VFAbnJoC+L2IYf
4LrmVy1yad0zHtDOhPTsk1CRJ41Zkmpd291rx7f0dJO+Nd3+oITnntbUYOLcqCp8
b0ajQjBAMA4GA1UdDwEB/wQEAwICBDAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQW
BBS320pF6P4VmnyYeQfrHW2c1uHBQTAKBggqhkjOPQQDAgNIADBFAiAc0hWuefkq
LkfTDF8A6wi9w/7i6Y35IFm5weNjygH94wIhAI0yHtYRGV7QrYtMkq728X0009Ob
+YXNetY+etRlb1H5
-----END CERTIFICATE-----
`
