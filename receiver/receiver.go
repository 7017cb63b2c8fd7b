package receiver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"riskdex/internal/loglimit"
	"riskdex/internal/rates"
	"riskdex/internal/vocabulary"
	"riskdex/mappings/gazetteer"
	"riskdex/receiver/auth"
	"riskdex/receiver/body"
	"riskdex/report"
)

// Journal is the part of the journal that the receiver uses.
type Journal interface {
	// Append returns nil once all of d would survive a power cut. After an error, none of
	// it may be relied on.
	Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error)
}

// Receiver answers the nine calls of the delivery interface. It is an http.Handler and may be
// used concurrently.
type Receiver struct {
	handler       http.Handler
	journal       Journal
	maxBody       int64
	budget        *body.Budget
	rates         *rates.Rates // nil where no sender is bounded
	parser        bodyParser
	now           func() time.Time
	observe       func(report.Answered)
	ready         func() error
	tracer        trace.Tracer // nil when nothing is traced
	prefix        string
	authenticator *auth.Authenticator
	waits         *waits
	rejections    loglimit.Limiter
	recurring     loglimit.Limiter // for causes that may affect every delivery for long
	metrics       *metrics
	log           *slog.Logger
}

// New returns a receiver that appends to journal, or an error that says what is wrong in cfg.
// now stamps refusals.
func New(cfg Config, journal Journal, now func() time.Time, reg prometheus.Registerer, log *slog.Logger) (*Receiver, error) {
	parser, err := newBodyParser(cfg)
	if err != nil {
		return nil, err
	}
	prefix, err := parsePrefix(cfg.Prefix)
	if err != nil {
		return nil, err
	}
	if cfg.MaxBody <= 0 {
		return nil, fmt.Errorf("the largest body is %d bytes: it must be more than 0", cfg.MaxBody)
	}
	if cfg.BodyMemory == 0 {
		cfg.BodyMemory = max(body.DefaultSize(), 2*cfg.MaxBody)
	}
	if cfg.BodyMemory < 2*cfg.MaxBody {
		return nil, fmt.Errorf("the memory for bodies is %d bytes: the largest body, of %d, must fit twice, as it is sent and decompressed", cfg.BodyMemory, cfg.MaxBody)
	}
	r := &Receiver{
		journal: journal, maxBody: cfg.MaxBody, budget: body.NewBudget(cfg.BodyMemory, 2*cfg.MaxBody), parser: parser,
		now: now, observe: cfg.Observe, ready: cfg.Ready, authenticator: cfg.Authenticator, metrics: newMetrics(reg), log: log,
		tracer: cfg.Tracer, prefix: prefix, waits: newWaits(cfg.Await, reg), rejections: loglimit.Limiter{Every: time.Second}, recurring: loglimit.Limiter{Every: recurringLogEvery},
	}
	if cfg.MaxRate < 0 {
		return nil, fmt.Errorf("the most deliveries a second are %g: it cannot be less than 0", cfg.MaxRate)
	}
	if cfg.MaxRate > 0 {
		r.rates = rates.New(cfg.MaxRate)
	}
	if r.authenticator == nil {
		if r.authenticator, err = auth.New(auth.Config{}, now, log); err != nil { // accepts everybody
			return nil, err
		}
	}
	r.handler = withCanonicalPath(r.authenticated(r.routes()))
	return r, nil
}

func newBodyParser(cfg Config) (bodyParser, error) {
	parser := bodyParser{}
	words, countries := vocabulary.New(), sync.OnceValues(gazetteer.BuiltinCountries)
	for _, kind := range report.Kinds() {
		ids := cfg.IDs[kind]
		var codes, codeIDs []string
		if kind == report.Cities {
			if codes = cfg.Codes; codes == nil {
				codes = usualCodes()
			}
			if ids == nil {
				codeIDs = usualCodes()
			}
		}
		if ids == nil {
			ids = usualIDs(kind)
		}
		s := &splitter{kind: kind, words: newGuesser(words, kind), countries: countries}
		if cfg.IDs[kind] == nil {
			s.guess = s.words
		}
		var errs [4]error
		s.ids, errs[0] = parsePointers(ids)
		s.codeIDs, errs[1] = parsePointers(codeIDs)
		s.codes, errs[2] = parsePointers(codes)
		s.records, errs[3] = parsePointers(cfg.Records[kind])
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("where the records, ids and codes of %s are: %w", kind, err)
		}
		s.noID = "The record has no id: it holds no " + s.idPlaces() + "."
		parser[kind] = s
	}
	return parser, nil
}

// Memory returns the budget for bodies, from which everything that holds one takes.
func (r *Receiver) Memory() *body.Budget { return r.budget }

// ServeHTTP answers one delivery, or a health check.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.isHealthCheck(w, req) {
		return
	}
	if r.tracer != nil {
		var span trace.Span
		req, span = r.startSpan(req)
		defer span.End()
	}
	r.handler.ServeHTTP(w, req)
}

func (r *Receiver) routes() *httprouter.Router {
	router := httprouter.New()
	// A sender takes any 3xx for a failure.
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.HandleOPTIONS = false
	router.NotFound = r.refuseRoute(http.StatusNotFound)
	router.MethodNotAllowed = r.refuseRoute(http.StatusMethodNotAllowed)
	router.PanicHandler = func(w http.ResponseWriter, req *http.Request, cause any) {
		r.log.ErrorContext(req.Context(), "delivery failed", "method", req.Method, "cause", fmt.Sprint(cause))
		r.answered(req.Context(), report.Answered{Method: req.Method, Status: http.StatusInternalServerError, Reason: reasonInternal})
		writeProblem(w, newProblem(http.StatusInternalServerError, reasonInternal, "The delivery was not accepted, because of a fault in riskdex."))
	}
	for _, kind := range report.Kinds() {
		collection := r.prefix + "/" + string(kind)
		router.POST(collection, r.handle(kind))
		router.PUT(collection+"/:id", r.handle(kind))
		router.DELETE(collection+"/:id", r.handle(kind))
	}
	return router
}

// handle returns the handler of the calls of one kind.
func (r *Receiver) handle(kind report.Kind) httprouter.Handle {
	return func(w http.ResponseWriter, req *http.Request, params httprouter.Params) {
		// The router has matched the encoded form, in which an id may have a slash.
		id, err := url.PathUnescape(params.ByName("id"))
		if err != nil {
			id = params.ByName("id")
		}
		d := r.newDelivery(call{kind: kind, method: req.Method, pathID: id}, w, req)
		defer d.reader.Close()
		r.deliver(d)
	}
}

// refuseRoute returns the handler of requests that are none of the nine calls. A delivery to a
// wrong path is kept like any other that is refused: it may be a correction that somebody
// misses.
func (r *Receiver) refuseRoute(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		d := r.newDelivery(call{kind: r.kindIn(req.URL.Path), method: req.Method}, w, req)
		defer d.reader.Close()
		reason, detail := reasonPath, "There is nothing at this path."+r.suggestPath(req.URL.Path)
		detail += " Deliveries go to " + r.collections() + ", and from there to /ID, in which a slash is %2F."
		if status == http.StatusMethodNotAllowed {
			// The router lists OPTIONS, which it does not answer here.
			allow := strings.Join(slices.DeleteFunc(strings.Split(w.Header().Get("Allow"), ", "), func(method string) bool { return method == http.MethodOptions }), ", ")
			w.Header().Set("Allow", allow)
			reason, detail = reasonMethod, fmt.Sprintf(
				"The method %q does not belong to this path, which takes %s.", req.Method, allow)
		}
		p := newProblem(status, reason, detail)
		if !mayCarryDelivery(req.Method) {
			if r.authenticator.Signed() { // and this is not verified
				w.Header().Set("Connection", "close")
			}
			r.answer(d, p)
			return
		}
		if !r.verified(d) || r.tooFast(d) {
			return
		}
		d.stray = true
		content, unread := d.reader.ReadAll()
		r.refuse(d, p, content, unread != nil)
	})
}

// collections lists the paths of all kinds: /cities, /advisories and /special-reports.
func (r *Receiver) collections() string {
	var paths []string
	for _, kind := range report.Kinds() {
		paths = append(paths, r.prefix+"/"+string(kind))
	}
	last := len(paths) - 1
	return strings.Join(paths[:last], ", ") + " and " + paths[last]
}

// mayCarryDelivery reports whether something may be lost where a request with that method is turned
// away. One that carries nothing is not counted as refused, logged or told.
func mayCarryDelivery(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// kindIn returns the kind that a path names; "" where it names none.
func (r *Receiver) kindIn(path string) report.Kind {
	collection, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, r.prefix), "/"), "/")
	kind, err := report.ParseKind(collection)
	if err != nil {
		return ""
	}
	return kind
}
