package searchapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"riskdex/internal/problem"
	"riskdex/internal/requestid"
	"riskdex/search"
)

// share lets pages of other origins read the answer, as far as they may.
func (s *Server) share(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Vary", "Origin, Accept-Encoding, Authorization")
	origin := r.Header.Get("Origin")
	if !s.allows(origin) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, "+requestid.Header)
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD")
		h.Set("Access-Control-Allow-Headers", "Authorization, If-None-Match, traceparent, "+requestid.Header)
		h.Set("Access-Control-Max-Age", "600")
	}
}

func isProbe(r *http.Request) bool { return r.URL.Path == "/livez" || r.URL.Path == "/readyz" }

// admit returns why a request is not answered: it lacks a key, or its client asks too often.
func (s *Server) admit(r *http.Request) error {
	if isProbe(r) {
		return nil
	}
	who := s.Network(r)
	if s.Allow != nil {
		scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		key = strings.TrimSpace(key)
		ok, err := s.Allow(key)
		switch {
		case err != nil:
			return &problem.Problem{Status: http.StatusServiceUnavailable, Detail: "Nobody can search, because riskdex cannot read the keys that it knows. Its log says why."}
		case !ok || !strings.EqualFold(scheme, "Bearer"):
			return &problem.Problem{Status: http.StatusUnauthorized, Reason: "no_key", Detail: "A key is required, in Authorization as a bearer token."}
		}
		who = "key " + key
	}
	if s.rates == nil {
		return nil
	}
	if wait := s.rates.Wait(who, s.Now()); wait > 0 {
		return &tooFast{int(wait/time.Second) + 1, s.MaxRate}
	}
	return nil
}

// tooFast is the refusal of a client that asks too often.
type tooFast struct {
	seconds int
	rate    float64
}

func (t *tooFast) Error() string {
	return fmt.Sprintf("More than %g requests a second came from this client. Ask again in %d s.", t.rate, t.seconds)
}

// write answers, and returns the status.
func (s *Server) write(w http.ResponseWriter, r *http.Request, body any, err error) int {
	if err != nil {
		return s.refuse(w, err)
	}
	text, isText := body.([]byte)
	contentType := "text/plain; charset=utf-8"
	switch {
	case !isText:
		contentType = "application/json"
		var made bytes.Buffer
		e := json.NewEncoder(&made)
		e.SetEscapeHTML(false)
		if err := e.Encode(body); err != nil {
			panic(err)
		}
		text = made.Bytes()
	case r.URL.Path == "/openapi.yaml":
		contentType = "application/yaml"
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	tag := fmt.Sprintf(`W/"%.16x"`, sha256.Sum256(text))
	h.Set("ETag", tag)
	h.Set("Cache-Control", "max-age="+maxAge)
	if s.Allow != nil {
		h.Set("Cache-Control", "private, max-age="+maxAge)
	}
	if isProbe(r) {
		h.Set("Cache-Control", "no-store")
	}
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return http.StatusNotModified
	}
	if len(text) > 1000 && takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		var small bytes.Buffer
		z := gzip.NewWriter(&small)
		_, _ = z.Write(text) // to memory
		_ = z.Close()
		text = small.Bytes()
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // the only errors are those of a client that is gone
	return http.StatusOK
}

// refuse answers with a problem.
func (s *Server) refuse(w http.ResponseWriter, err error) int {
	p := errAway
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	var fast *tooFast
	var mistake *search.Mistake
	switch {
	case errors.As(err, &fast):
		h.Set("Retry-After", strconv.Itoa(fast.seconds))
		p = &problem.Problem{Status: http.StatusTooManyRequests, Reason: "too_many", Detail: fast.Error()}
	case errors.As(err, &mistake):
		p = &problem.Problem{Status: http.StatusBadRequest, Reason: "mistake", Detail: mistake.Error() + "."}
	case errors.As(err, &p):
	}
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="riskdex"`)
	case http.StatusMethodNotAllowed:
		h.Set("Allow", "GET, HEAD, OPTIONS")
	}
	problem.Write(w, p)
	return p.Status
}

func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(quality, "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

// parameters returns the query of a request, or what net/http would drop of it.
func parameters(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &search.Mistake{Says: "the query cannot be read: " + err.Error()}
	}
	return values, nil
}
