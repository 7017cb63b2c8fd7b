package admin

import (
	"net/http"

	"riskdex/internal/webpage"
)

// guarded lets nobody see or change anything through the browser of a person who is
// reading a web page of somebody else. byName tells whether browsers are answered by
// any name: one shows a token only to the name that a person has given it for.
func guarded(next http.Handler, byName bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case webpage.FromAnotherSite(r):
			writeProblem(w, &Problem{Status: http.StatusForbidden, Detail: "This comes from a web page of another site, which may change nothing here."})
		case !byName && !forSupervisors(r) && webpage.ByAName(r):
			writeProblem(w, &Problem{Status: http.StatusForbidden,
				Detail: "Without --admin-token-file, a browser is answered only where it calls riskdex by an IP address or localhost. Call it so, or use the riskdex commands."})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}
