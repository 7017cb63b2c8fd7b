package admin

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"riskdex/search"
)

// Parts are what the admin listener shows and works on. It does not serve parts that are nil.
type Parts struct {
	Health  Health
	Metrics prometheus.Gatherer

	DeadLetters DeadLetters
	Refusals    Refusals
	Receiver    Receiver // needed by both of the above
	Rebuilder   Rebuilder
	Verifier    Verifier
	Losses      Losses
	Backups     Backups   // nil if riskdex cannot copy the journal
	Documents   Documents // needs Status
	Histories   Histories // needs Documents and Status
	Records     Records
	Reader      Reader // needs Records
	Changes     Changes
	Compared    <-chan struct{} // closed once Changes were compared with what the indices remember
	Reads       *ReadMetrics    // needed by Records, Changes, Documents and Histories
	Missed      *search.Missed  // nil if the words of searches without a hit are not kept
	JournalInfo JournalInfo     // nothing is served about the journal if its Name is empty

	// Status is for the status page and the API's status.
	Status StatusParts

	// Allow reports whether a token is valid, or returns why that cannot be checked now. A valid
	// token allows everything. If Allow is nil, everybody who reaches the listener may do
	// everything. It is called concurrently.
	Allow func(token string) (bool, error)

	// Stopping is closed when calls must not wait any longer, because riskdex stops. It may be nil.
	Stopping <-chan struct{}

	// MaxBody is the largest edited body in bytes, and Memory, if not nil, bounds what bodies take.
	MaxBody int64
	Memory  Memory
	Log     *slog.Logger
}

// Memory is the memory for bodies, for all parts of riskdex together.
type Memory interface {
	// Hold returns a context that carries memory, none at first, of which a byte of a body takes each
	// bytes, and a function that gives it back. A wait for it ends after patience.
	Hold(ctx context.Context, each int64, patience time.Duration) (context.Context, func())
}

// What a byte of a body takes that is shown or edited, or that an export or the feed passes on.
const (
	showMemory = 12
	passMemory = 4
)

// memoryTimeout bounds a wait for memory. An export that is broken off has to begin anew, so it waits as
// long as for its client.
const memoryTimeout = 10 * time.Second

// hold returns a handler that passes calls to h with a context that carries memory for what they read.
func (p Parts) hold(each int64, patience time.Duration, h http.Handler) http.Handler {
	if p.Memory == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, release := p.Memory.Hold(r.Context(), each, patience)
		defer release()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// New returns the handler of the admin listener.
func New(p Parts) http.Handler {
	router := p.hold(showMemory, memoryTimeout, headAsGet(p.routes()))
	if p.Allow == nil {
		return guarded(router, false)
	}
	return withToken(p.Allow, guarded(router, true))
}

func (p Parts) routes() *httprouter.Router {
	router := httprouter.New()
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.NotFound = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, notFound("There is nothing at this path. docs/reference.md lists what there is."))
	})
	router.MethodNotAllowed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, &Problem{Status: http.StatusMethodNotAllowed, Detail: "This path takes " + w.Header().Get("Allow") + "."})
	})
	p.Health.register(router)
	if p.Metrics != nil {
		router.Handler(http.MethodGet, "/metrics", promhttp.HandlerFor(p.Metrics, promhttp.HandlerOpts{
			EnableOpenMetrics: true,
			// One collector that fails must not hide the others.
			ErrorHandling: promhttp.ContinueOnError,
			Timeout:       20 * time.Second,
		}))
	}
	a := &api{log: p.Log, maxBody: p.MaxBody, lookups: lookups{make(readLimit, mostLookups), p.Reads}}
	edits := make(readLimit, mostEdits)
	if p.DeadLetters != nil {
		a.register(router, (&deadLetters{p.DeadLetters, p.Receiver, edits}).calls())
	}
	if p.Refusals != nil {
		a.register(router, (&refusals{p.Refusals, p.Receiver, edits}).calls())
	}
	if p.Rebuilder != nil {
		a.register(router, (&rebuilds{p.Rebuilder, p.Status.Journal, p.Status.Process}).calls())
	}
	if p.Verifier != nil {
		router.Handler(http.MethodPost, "/api/verify", &verifications{p.Verifier, p.Log})
	}
	if p.JournalInfo.Name != "" {
		b := &backups{p.JournalInfo, p.Backups, p.Log}
		a.register(router, b.calls())
		router.Handler(http.MethodPost, "/api/journal/backup", b)
	}
	if p.Records != nil {
		exports := newExports(p.Records, p.Reads, p.Log)
		router.Handler(http.MethodGet, "/api/export", p.hold(passMemory, clientTimeout, exports))
	}
	if p.Records != nil && p.Reader != nil {
		one := make(readLimit, 1)
		for _, c := range (&readings{p.Records, p.Reader}).calls() {
			router.Handler(c.method, c.path, one.bound(a.handler(c)))
		}
	}
	if p.Changes != nil {
		feeds := newFeeds(p.Changes, p.Compared, p.Reads, p.Stopping, p.Log)
		router.Handler(http.MethodGet, "/api/changes", p.hold(passMemory, memoryTimeout, feeds))
	}
	if p.Losses != nil {
		a.register(router, (&losses{p.Losses}).calls())
	}
	if p.Status.Journal != nil {
		status := &statuses{p}
		if h := status.histories(); h != nil {
			a.registerLookups(router, h.calls())
		}
		status.register(router, a)
		newPage(status).register(router, a.lookups)
	}
	a.register(router, []call{{http.MethodGet, "/api/searches/missed", "", func(*request) (any, error) {
		if p.Missed == nil {
			return nil, notFound("Nothing is kept of searches without a hit. --search-keep-missed of serve, or --keep-missed of search-api, has it keep their words in memory.")
		}
		return map[string][]search.Miss{"items": p.Missed.List()}, nil
	}}})
	registerProfiles(router)
	return router
}
