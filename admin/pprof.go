package admin

import (
	"net/http"
	"net/http/pprof"
	"runtime"
	"sync"

	"github.com/julienschmidt/httprouter"
)

// registerProfiles serves the profiles of the process. The arguments that it was
// started with are not among them: they may hold a password.
func registerProfiles(router *httprouter.Router) {
	var locks contention
	router.GET("/debug/pprof/*name", func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" || from == "same-site" {
			// A profile costs the process something, which no other page may ask for.
			writeProblem(w, &Problem{Status: http.StatusForbidden, Detail: "This was called from a web page of another site."})
			return
		}
		switch params.ByName("name") {
		case "/profile":
			pprof.Profile(w, r)
		case "/symbol":
			pprof.Symbol(w, r)
		case "/trace":
			pprof.Trace(w, r)
		case "/mutex":
			defer locks.watch()()
			pprof.Index(w, r)
		default:
			pprof.Index(w, r)
		}
	})
}

// contention has the runtime note who waits for which lock, which costs a little, only
// while somebody asks: /debug/pprof/mutex?seconds=10.
type contention struct {
	mu     sync.Mutex
	asking int
}

// noted is one of so many waits (runtime.SetMutexProfileFraction).
const noted = 10

// watch notes until done is called. Several may watch at a time.
func (c *contention) watch() (done func()) {
	add := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asking += n
		runtime.SetMutexProfileFraction(noted * min(c.asking, 1))
	}
	add(1)
	return func() { add(-1) }
}
