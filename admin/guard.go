package admin

import (
	"net/http"

	"riskdex/internal/webpage"
)

// guarded rejects requests that a web page of somebody else makes a person's browser send.
// byName says whether browsers may use any host name. That is safe with tokens, since a
// browser sends a token only to the name that the person entered it for.
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
