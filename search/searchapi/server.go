// Package searchapi answers searches of apps over HTTP. It only reads, keeps nothing, and needs no journal,
// so apps go on searching whatever happens to deliveries.
package searchapi

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/julienschmidt/httprouter"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"riskdex/elastic"
	"riskdex/internal/histogram"
	"riskdex/internal/loglimit"
	"riskdex/internal/problem"
	"riskdex/internal/rates"
	"riskdex/report"
	"riskdex/search"
)

// Index is what apps search.
type Index interface {
	// Ask makes a search. A query that cannot be is a *search.Mistake.
	Ask(ctx context.Context, q search.Query) (search.Result, error)
	// Source returns what the index has of a document; nil if searches do not find it.
	Source(ctx context.Context, key report.Key) (jsontext.Value, error)
	// SilentSince returns since when Elasticsearch has answered nobody who waits; zero if nobody waits.
	SilentSince() time.Time
	// Ping returns an error if Elasticsearch cannot be reached, or does not answer anything at all.
	Ping(ctx context.Context) error
}

// Config says who may search, and how much.
type Config struct {
	// Allow reports whether a key is valid, or returns why that cannot be checked now. If it is nil, no
	// key is needed.
	Allow   func(key string) (bool, error)
	Network func(r *http.Request) string // tells clients without keys apart

	Origins    []string // whose pages may search; * is all
	MaxRate    float64  // requests a second of each client; 0 is no limit
	Timeout    time.Duration
	ShowSource bool           // with a document, what was delivered
	Missed     *search.Missed // nil if the words of searches without a hit are not kept
	Tracer     trace.Tracer   // nil if nothing is traced
	Now        func() time.Time
	Log        *slog.Logger
}

const (
	statusGone = 499 // nobody reads the answer; the metrics tell it from a failure

	mostHits   = 100  // of one answer
	mostAtOnce = 32   // searches
	maxAge     = "10" // seconds for which an answer may be kept

	lookAfter = 600 * time.Millisecond // when nobody was answered for as long, Elasticsearch is looked at
	hangs     = 2 * time.Second        // a ping without an answer
	lookAgain = time.Second            // while it is away
)

//go:embed openapi.yaml
var description []byte

// Server answers the calls of openapi.yaml. It is an http.Handler.
type Server struct {
	Config
	index  Index
	router *httprouter.Router
	rates  *rates.Rates
	slots  chan struct{}
	limit  loglimit.Limiter

	circuit  circuit
	looking  sync.Mutex // what the last look at readiness has found
	looked   time.Time
	notReady error

	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	empty    prometheus.Counter
}

// calls are the labels of metrics.
func calls() []string { return []string{"search", "complete", "document", "other"} }

// New returns a server.
func New(cfg Config, index Index, reg prometheus.Registerer) *Server {
	s := &Server{
		Config: cfg, index: index, router: httprouter.New(), slots: make(chan struct{}, mostAtOnce), circuit: circuit{looking: make(chan struct{}, 1)}, limit: loglimit.Limiter{Every: 10 * time.Second},
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_search_requests_total",
			Help: "Requests that the search API answered.",
		}, []string{"call", "code"}),
		seconds: prometheus.NewHistogramVec(histogram.Seconds("riskdex_search_request_seconds",
			"Time to answer a request of the search API.", time.Millisecond, 10*time.Second), []string{"call"}),
		empty: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riskdex_search_without_hits_total",
			Help: "Searches of the search API with words that found nothing.",
		}),
	}
	if cfg.MaxRate > 0 {
		s.rates = rates.New(cfg.MaxRate)
	}
	reg.MustRegister(s.requests, s.seconds, s.empty)
	for _, call := range calls() {
		s.seconds.WithLabelValues(call)
		for _, code := range []int{200, 204, 304, 400, 401, 404, 405, 429, statusGone, 500, 502, 503} {
			s.requests.WithLabelValues(call, strconv.Itoa(code))
		}
	}
	s.routes()
	return s
}

func (s *Server) routes() {
	s.router.RedirectTrailingSlash, s.router.RedirectFixedPath, s.router.HandleOPTIONS = false, false, false
	s.router.NotFound = s.call("other", func(*http.Request, httprouter.Params) (any, error) {
		return nil, &problem.Problem{Status: http.StatusNotFound, Detail: "There is nothing at this path. /openapi.yaml lists what there is."}
	})
	s.router.MethodNotAllowed = s.call("other", func(*http.Request, httprouter.Params) (any, error) {
		return nil, &problem.Problem{Status: http.StatusMethodNotAllowed, Detail: "Everything here is asked for with GET."}
	})
	s.router.PanicHandler = func(w http.ResponseWriter, r *http.Request, cause any) {
		s.Log.ErrorContext(r.Context(), "a search failed", "cause", cause)
		problem.Write(w, &problem.Problem{Status: http.StatusInternalServerError, Detail: "A fault in riskdex."})
	}
	for path, c := range map[string]struct {
		name   string
		answer answerer
	}{
		"/v1/search": {"search", s.search}, "/v1/complete": {"complete", s.complete}, "/v1/documents/:kind/*id": {"document", s.document},
		"/openapi.yaml": {"other", func(*http.Request, httprouter.Params) (any, error) { return description, nil }},
		"/livez":        {"other", func(*http.Request, httprouter.Params) (any, error) { return []byte("ok\n"), nil }},
		"/readyz":       {"other", s.ready},
	} {
		h := s.call(c.name, c.answer)
		s.router.GET(path, func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
			h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), httprouter.ParamsKey, params)))
		})
	}
}

// answerer answers a call, with bytes as they are, or something to encode as JSON.
type answerer func(*http.Request, httprouter.Params) (any, error)

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.share(w, r)
	switch r.Method {
	case http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodHead: // net/http leaves the body out
		get := *r
		get.Method = http.MethodGet
		r = &get
	}
	s.router.ServeHTTP(w, r)
}

// call returns the handler of a call, for whoever may make it.
func (s *Server) call(name string, answer answerer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.Now()
		r, end := s.span(name, r)
		var body any
		err := s.admit(r)
		if err == nil {
			body, err = answer(r, httprouter.ParamsFromContext(r.Context()))
		}
		status := s.write(w, r, body, err)
		end(status)
		s.requests.WithLabelValues(name, strconv.Itoa(status)).Inc()
		s.seconds.WithLabelValues(name).Observe(s.Now().Sub(began).Seconds())
	})
}

// span begins the span of a request, in the trace of its sender if it has one.
func (s *Server) span(name string, r *http.Request) (*http.Request, func(status int)) {
	if s.Tracer == nil {
		return r, func(int) {}
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := s.Tracer.Start(ctx, "GET "+name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("riskdex.call", name)))
	return r.WithContext(ctx), func(status int) {
		if span.SetAttributes(semconv.HTTPResponseStatusCode(status)); status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Ready returns why no search can be answered now.
func (s *Server) Ready(ctx context.Context) error {
	_, err := s.ask(ctx, search.Query{Size: 1, Fields: []string{"kind"}})
	return err
}

// ready answers from the last look, unless that was a second ago or more: it needs no key, and must not take
// what searches need.
func (s *Server) ready(r *http.Request, _ httprouter.Params) (any, error) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if now := s.Now(); s.looked.IsZero() || now.Sub(s.looked) >= time.Second {
		s.notReady = s.Ready(context.WithoutCancel(r.Context()))
		s.looked = s.Now()
	}
	return []byte("ok\n"), s.notReady
}

var (
	errBusy = &problem.Problem{Status: http.StatusServiceUnavailable, Reason: "busy", Detail: "Too many searches are under way. Ask again later."}
	errSlow = &problem.Problem{Status: http.StatusServiceUnavailable, Reason: "too_slow", Detail: "The search took too long. Ask for less, or again later."}
	errGone = &problem.Problem{Status: statusGone, Reason: "gone", Detail: "Whoever asked is gone."}
	errAway = &problem.Problem{Status: http.StatusServiceUnavailable, Reason: "away", Detail: "Reports cannot be searched now. That is not to say that there are none. Ask again later."}
)

// ask makes a search within bounds.
func (s *Server) ask(ctx context.Context, q search.Query) (found search.Result, err error) {
	err = s.bounded(ctx, func(ctx context.Context) error {
		found, err = s.index.Ask(ctx, q)
		return err
	})
	return found, err
}

// bounded asks Elasticsearch, a bounded number of times at once and for a bounded time. That it refuses
// connections is noticed at once, and that it does not answer within three seconds. From then on only the
// search that looks again waits. The client is told nothing of what Elasticsearch has answered.
func (s *Server) bounded(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, errSlow)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), context.Canceled) {
			return errGone
		}
		return errBusy
	}
	if s.open(ctx) {
		return errAway
	}
	ctx, away := context.WithCancelCause(ctx)
	defer away(nil)
	look := time.AfterFunc(lookAfter, func() {
		if s.silent(ctx) {
			away(errAway)
		}
	})
	defer look.Stop()
	err := ask(ctx)
	if _, is := errors.AsType[*search.Mistake](err); err == nil || is {
		return err
	}
	if errors.Is(context.Cause(ctx), context.Canceled) { // by the client, as completion does with each letter
		return errGone
	}
	told := problemOf(err)
	if p, is := errors.AsType[*problem.Problem](context.Cause(ctx)); is {
		told = p
	}
	if ok, _ := s.limit.Allow("", s.Now()); ok {
		does := "does not answer"
		if told.Status == http.StatusBadGateway {
			does = "refuses"
		}
		s.Log.WarnContext(ctx, "Elasticsearch "+does+" searches of apps", "error", err)
	}
	return told
}

// problemOf says what a failed search is for an app: what Elasticsearch refuses does not pass by itself.
func problemOf(err error) *problem.Problem {
	said, is := errors.AsType[*elastic.ResponseError](err)
	switch {
	case !is || said.Status < 400 || said.Status > 499:
		return errAway
	case said.Status == http.StatusNotFound:
		return &problem.Problem{Status: http.StatusServiceUnavailable, Reason: "no_index", Detail: "There is no index of reports yet: riskdex serve makes it. Ask again later."}
	case said.Status == http.StatusTooManyRequests:
		return errBusy
	case said.Status == http.StatusUnauthorized || said.Status == http.StatusForbidden:
		return &problem.Problem{Status: http.StatusBadGateway, Reason: "no_access", Detail: "Elasticsearch does not accept the credentials of riskdex. Whoever runs riskdex has to mend that; its log says more."}
	}
	return &problem.Problem{Status: http.StatusBadGateway, Reason: "refused", Detail: "Elasticsearch refuses the search. Whoever runs riskdex has to mend that; its log says why."}
}

func (s *Server) search(r *http.Request, _ httprouter.Params) (any, error) {
	q, err := s.query(r)
	if err != nil {
		return nil, err
	}
	q.Facets = true
	found, err := s.ask(r.Context(), q)
	if err != nil {
		return nil, err
	}
	if q.Words != "" && (found.Total == 0 || found.NoReport != nil) {
		s.empty.Inc()
		s.Missed.Note(q.Words, s.Now())
	}
	return foundOf(found, q), nil
}

func (s *Server) complete(r *http.Request, _ httprouter.Params) (any, error) {
	q, err := s.query(r)
	if err != nil {
		return nil, err
	}
	q.Complete = true
	found, err := s.ask(r.Context(), q)
	if err != nil {
		return nil, err
	}
	return completedOf(found, q), nil
}

// query reads a query, with nothing in it that would be ignored.
func (s *Server) query(r *http.Request) (search.Query, error) {
	values, err := parameters(r)
	if err != nil {
		return search.Query{}, err
	}
	q, err := search.Parse(values)
	if err == nil && q.Size > mostHits {
		err = &search.Mistake{Says: "size is more than " + strconv.Itoa(mostHits) + ": ask for the next hits with from"}
	}
	q.Fields = search.List()
	return q, err
}

func (s *Server) document(r *http.Request, params httprouter.Params) (any, error) {
	if values, err := parameters(r); err != nil || len(values) > 0 {
		return nil, &search.Mistake{Says: "this call takes no parameters"}
	}
	kind, err := report.ParseKind(params.ByName("kind"))
	if err != nil {
		return nil, &search.Mistake{Says: "kind: " + err.Error()}
	}
	id, err := report.ParseID(params.ByName("id")[1:])
	if err != nil {
		return nil, noDocument
	}
	var source jsontext.Value
	err = s.bounded(r.Context(), func(ctx context.Context) error {
		source, err = s.index.Source(ctx, report.Key{Kind: kind, ID: id})
		return err
	})
	if err != nil {
		return nil, err
	}
	if source == nil {
		return nil, noDocument
	}
	return documentOf(source, s.ShowSource)
}

var noDocument = &problem.Problem{Status: http.StatusNotFound, Reason: "no_document", Detail: "There is no such report, or it is no longer there."}

// allows reports whether pages of an origin may search.
func (s *Server) allows(origin string) bool {
	return origin != "" && (slices.Contains(s.Origins, origin) || slices.Contains(s.Origins, "*"))
}
