package admin

import (
	"net/http"
	"net/http/pprof"

	"github.com/julienschmidt/httprouter"
)

// registerProfiles serves the profiles of the process. The arguments that it was
// started with are not among them: they may hold a password.
func registerProfiles(router *httprouter.Router) {
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
		default:
			pprof.Index(w, r)
		}
	})
}
