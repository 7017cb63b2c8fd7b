package indexertest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"
)

// IsBulk reports whether a request is a bulk.
func IsBulk(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, "/_bulk") }

// IsLookup reports whether a request looks up versions.
func IsLookup(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, "/_mget") }

// AnswerWith answers instead of the real server.
func AnswerWith(status int, body string) Fault {
	return func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Applied passes requests to the real server and then spoils its answer.
func Applied(spoil func(w http.ResponseWriter, answer []byte)) Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		req.Header.Del("Accept-Encoding") // the answer must be readable to be spoilt
		next.ServeHTTP(rec, req)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		spoil(w, rec.Body.Bytes())
	}
}

// Bites counts how often a fault was applied.
type Bites struct{ atomic.Int64 }

// Of returns f, counting its calls.
func (b *Bites) Of(f Fault) Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		b.Add(1)
		f(w, req, next)
	}
}

// Altered returns a fault that alters the real server's answer.
func (b *Bites) Altered(alter func(answer []byte) []byte) Fault {
	spoilt := Applied(func(w http.ResponseWriter, answer []byte) {
		after := alter(bytes.Clone(answer))
		if !bytes.Equal(after, answer) {
			b.Add(1)
		}
		_, _ = w.Write(after)
	})
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		req.Header.Del("Accept-Encoding") // otherwise it could not be read
		spoilt(w, req, next)
	}
}

// Replace returns a fault that replaces a text in the real server's answer.
func (b *Bites) Replace(old, new string) Fault {
	return b.Altered(func(answer []byte) []byte { return bytes.ReplaceAll(answer, []byte(old), []byte(new)) })
}

// EnoughAttempts is far more than an hour of backoff takes, and is soon reached by an
// indexer that no longer waits.
const EnoughAttempts = 20_000

// Absence refuses every request until it is over, by the clock of the test.
type Absence struct {
	Real     http.RoundTripper
	Over     time.Time
	Attempts atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (a *Absence) RoundTrip(req *http.Request) (*http.Response, error) {
	if time.Now().Before(a.Over) && a.Attempts.Load() < EnoughAttempts {
		a.Attempts.Add(1)
		if req.Body != nil {
			_, _ = io.Copy(io.Discard, req.Body)
		}
		return nil, errors.New("connection refused")
	}
	return a.Real.RoundTrip(req)
}
