package admin

import (
	"net/http"
	"net/http/pprof"
	"runtime"
	"sync"

	"github.com/julienschmidt/httprouter"
)

// registerProfiles serves the profiles of the process. It does not serve the command line,
// which may hold a password.
func registerProfiles(router *httprouter.Router) {
	var locks contention
	router.GET("/debug/pprof/*name", func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" || from == "same-site" {
			// A profile costs the process something, so no page of another site may ask for one.
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

// contention makes the runtime record contention for locks, which costs a little, only while a
// client asks for it: /debug/pprof/mutex?seconds=10.
type contention struct {
	mu     sync.Mutex
	asking int
}

// noted is the sampling rate: one in this many waits (runtime.SetMutexProfileFraction).
const noted = 10

// watch records contention until done is called. It may be called several times at once.
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
